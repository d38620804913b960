# Sourced: enters a project with the bundled sample, and with nothing of whoever runs this.
sample=$(cd "$(dirname "$0")/sample" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
HOME=$tmp/home USERPROFILE=$HOME JP_USER_DATA_DIR=$tmp/jp XDG_CONFIG_HOME=$tmp/config XDG_DATA_HOME=$tmp/data XDG_STATE_HOME=$tmp/state XDG_CACHE_HOME=$tmp/cache
export HOME USERPROFILE JP_USER_DATA_DIR XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_CACHE_HOME
unset CONVTOOLS_CLI CLAUDE_CONFIG_DIR CLAUDECODE CLAUDE_CODE_SESSION_ID CODEX_HOME CODEX_THREAD_ID \
  OPENCODE OPENCODE_DB GEMINI_CLI GEMINI_CLI_HOME CONVERSATION_DB ORIGIN_CONVERSATION_DB || true
mkdir -p "$tmp/ferry"
cd "$tmp/ferry"
project=$(pwd -P)
record() { # the histories name the directory of the project
  mkdir -p "$2"
  for file in "$sample/$1"/*.jsonl; do sed "s|@PROJECT@|$project|g" "$file" >"$2/$(basename "$file")"; done
}
record claude-code "$HOME/.claude/projects/$(printf %s "$project" | LC_ALL=C sed 's/[^A-Za-z0-9]/-/g')"
record codex "$HOME/.codex/sessions/2026/05"
