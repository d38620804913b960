#!/bin/sh
# What an assistant does with its past, and with what its project knows, on the
# bundled samples. Each answer is shown below the command that produced it.
set -eu
cd "$(dirname "$0")/workspaces/sample"
# Only the samples: no conversations and no topics of whoever runs this.
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
HOME=$tmp/home USERPROFILE=$HOME JP_USER_DATA_DIR=$tmp/jp XDG_CONFIG_HOME=$tmp/config XDG_DATA_HOME=$tmp/data XDG_STATE_HOME=$tmp/state XDG_CACHE_HOME=$tmp/cache
export HOME USERPROFILE JP_USER_DATA_DIR XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_CACHE_HOME
unset CONVTOOLS_CLI CLAUDE_CONFIG_DIR CLAUDECODE CLAUDE_CODE_SESSION_ID CODEX_HOME CODEX_THREAD_ID \
  OPENCODE OPENCODE_DB GEMINI_CLI GEMINI_CLI_HOME CONVERSATION_DB ORIGIN_CONVERSATION_DB || true

convtools() { "$CONVTOOLS" "$@"; }
step() { printf '\n\033[1m# %s\033[0m\n' "$1" | if [ -t 1 ]; then cat; else sed 's/\x1b\[[0-9;]*m//g'; fi; }
show() {
  printf '$ convtools'
  for word in "$@"; do
    case $word in
      *[!A-Za-z0-9=,._/-]*) printf " '%s'" "$word" ;;
      *) printf ' %s' "$word" ;;
    esac
  done
  printf '\n'
  convtools "$@"
}

step "What did the user ask for lately?"
show call conversation_list outline=true limit=3

step "Where did we settle how to retry?"
show call conversation_recall 'query=why do we retry the gauge feed, and what is the cap?' limit=4

step "Read the event that was found"
show call conversation_read id=jp-c17737387251 event=16

step "What was asked in a conversation, and what came of it"
show call conversation_read id=jp-c17737387251 include=requests,answers

step "The same tools, called by JP from within a conversation, which is left out"
show jp-tool '{"action":"run","root":".","conversation_id":"jp-c17737387251"}' '{"name":"conversation_grep","arguments":{"pattern":"503","limit":"2"}}'

step "And for people"
show conversation ls --limit 5
show conversation grep --scope title,user cache

# A copy of the project, in which Claude Code and Codex worked too. Their histories
# name it by its path.
mkdir -p "$tmp/harbour" "$JP_USER_DATA_DIR"
cp -R .jp "$tmp/harbour"
histories=$(cd ../../histories && pwd)
cd "$tmp/harbour"
project=$(pwd -P)
record() {
  mkdir -p "$2"
  for file in "$histories/$1"/*.jsonl; do sed "s|@PROJECT@|$project|g" "$file" >"$2/$(basename "$file")"; done
}
record claude-code "$HOME/.claude/projects/$(printf %s "$project" | LC_ALL=C sed 's/[^A-Za-z0-9]/-/g')"
record codex "$HOME/.codex/sessions/2026/07/02"

step "One project, three programs: what JP, Claude Code and Codex recorded of it"
show conversation ls --limit 0

step "Claude Code asks in a session of its own, which is left out"
export CLAUDECODE=1 CLAUDE_CODE_SESSION_ID=b7a94e06-21d3-4f58-8c6e-90f2a4d1c377
show call conversation_grep 'pattern=the cap' scopes=user,assistant limit=8

step "It reads what another program's assistant found out"
show call conversation_read id=codex-01a0b3c4-5d6e-7f80-9a1b-2c3d4e5f6a7b include=requests,answers
unset CLAUDECODE CLAUDE_CODE_SESSION_ID

cd "$histories/../exports"
step "An export of ChatGPT, which belongs to no project"
show import chatgpt

step "The assistant searches everything that was ever said, in any script"
show call conversation_search query=螃蟹
show search --limit 3 high_water

cd "$histories/../knowledge"
step "What does the project know?"
show knowledge ls

step "An assistant asks for a topic, and loads what its task needs"
show call learn topic=project
show call learn topic=project subjects=testing 'subjects=config/*'

step "What goes into its system prompt, where a host lets it"
show knowledge prompt

step "Is everything in order?"
show knowledge check

mkdir "$tmp/weekend"
cp ../session/*.toml "$tmp/weekend"
cd "$tmp/weekend"
step "A model hands work to other conversations, one of which does so too: what happens, as it happens"
show query --progress 'Plan a weekend' 2>&1
step "The conversations of that session, and what each has used"
show session ls
show session show "$(convtools session ls --limit 1 | cut -d ' ' -f 1)"
