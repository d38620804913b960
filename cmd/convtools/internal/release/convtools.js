#!/usr/bin/env node
// Runs the program for this platform. npm installs its package as an optional dependency of this one.
"use strict";

const { spawn } = require("node:child_process");

const name = `@convtools/${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/bin/convtools${process.platform === "win32" ? ".exe" : ""}`);
} catch {
  console.error(`error: package ${name} is not installed`);
  console.error("hint: npm leaves it out with --omit=optional, and if node_modules is copied from another platform");
  process.exit(1);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    // A terminal has sent it to the program too.
    if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
  });
}
child.on("error", (err) => {
  console.error(`error: ${err.message}`);
  process.exitCode = 1;
});
child.on("exit", (code, signal) => {
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  }
  process.exitCode = code;
});
