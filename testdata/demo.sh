#!/bin/sh
# The main job on a bundled sample: a week of a small project that was worked on
# with Claude Code and with Codex. Each answer is below the command that gave it.
set -eu
sample=$(cd "$(dirname "$0")/sample" && pwd)
# Only the sample: no conversations and no configuration of whoever runs this.
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

show() {
  printf '\n%s\n$ convtools' "# $1"
  shift
  for word in "$@"; do
    case $word in
      *[!A-Za-z0-9=,._/-]*) printf " '%s'" "$word" ;;
      *) printf ' %s' "$word" ;;
    esac
  done
  printf '\n'
  "$CONVTOOLS" "$@" | sed "s|$tmp|~|g"
}

show "A week of a project, held with two agents" conversation ls
show "You ask" recall --limit 3 'why SQLite and not Postgres?'
show "Your agent asks, and sees this" call conversation_recall 'query=how do we retry when the operator answers 429, and why that cap?'
show "How it gets the tools" install claude-code --dry-run
printf '\nIn a project of yours: convtools recall WORDS…, then convtools install claude-code (or codex, opencode, …).\n'
