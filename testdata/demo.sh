#!/bin/sh
# What an assistant does with its past, and with what its project knows, on the
# bundled samples. Each answer is shown below the command that produced it.
set -eu
cd "$(dirname "$0")/workspaces/sample"
# Only the samples: no conversations and no topics of whoever runs this.
JP_USER_DATA_DIR=$(mktemp -d)
XDG_CONFIG_HOME=$JP_USER_DATA_DIR
export JP_USER_DATA_DIR XDG_CONFIG_HOME
trap 'rm -rf "$JP_USER_DATA_DIR"' EXIT
unset CONVTOOLS_CLI || true

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

step "Where did we settle how to retry? Words that stand apart"
show call conversation_grep 'pattern=retry cap' limit=5

step "Read the event that was found"
show call conversation_read id=jp-c17737387251 event=16

step "What was asked in a conversation, and what came of it"
show call conversation_read id=jp-c17737387251 include=requests,answers

step "The same tools, called by JP from within a conversation, which is left out"
show jp-tool '{"action":"run","root":".","conversation_id":"jp-c17737387251"}' '{"name":"conversation_grep","arguments":{"pattern":"503","limit":"2"}}'

step "And for people"
show conversation ls --limit 5
show conversation grep --scope title,user cache

cd ../../knowledge
step "What does the project know?"
show knowledge ls

step "An assistant asks for a topic, and loads what its task needs"
show call learn topic=project
show call learn topic=project subjects=testing 'subjects=config/*'

step "What goes into its system prompt, where a host lets it"
show knowledge prompt

step "Is everything in order?"
show knowledge check
