"""Calls tools through the client of the package mcp.

Reads {"command", "args", "env", "dir", "calls": [{"tool", "arguments"}]} from standard
input, and writes [{"Text", "Failed"}], in the same order.
"""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main():
    plan = json.load(sys.stdin)
    server = StdioServerParameters(
        command=plan["command"], args=plan["args"], env=plan["env"], cwd=plan["dir"]
    )
    answers = []
    async with stdio_client(server) as (reads, writes):
        async with ClientSession(reads, writes) as session:
            await session.initialize()
            for call in plan["calls"]:
                result = await session.call_tool(call["tool"], call["arguments"])
                text = "".join(part.text for part in result.content)
                answers.append({"Text": text, "Failed": result.isError})
    json.dump(answers, sys.stdout)


asyncio.run(main())
