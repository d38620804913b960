import subprocess

from fastmcp import FastMCP

mcp = FastMCP("git")


@mcp.tool
def git_log(limit: int = 20, text: str = "") -> str:
    """Returns hash and subject of each commit, the newest first."""
    command = ["git", "--no-pager", "log", "--oneline", f"--max-count={limit}", f"--grep={text}"]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout


mcp.run(show_banner=False)
