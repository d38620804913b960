package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/convtools/convtools/cmd/convtools/internal/repository"
	"github.com/convtools/convtools/runtime/process"
)

// installed is set by make release and make release-snapshot, after they have made the packages.
var installed = flag.Bool("installed", false, "install the packages that are in dist, and use them")

// mcpbVersion is the version of the command line for bundles, @anthropic-ai/mcpb of npm.
const mcpbVersion = "2.1.2"

// builtRelease returns the release in dist. It skips the test that calls it without -installed.
func builtRelease(t *testing.T) *release {
	t.Helper()
	if !*installed {
		t.Skip("make release-snapshot runs this test")
	}
	root, err := repository.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r, err := readRelease(root)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// output runs a program in a directory and returns what it prints.
func output(t *testing.T, dir, program string, args ...string) string {
	t.Helper()
	printed, err := repository.Output(t.Context(), process.Command{
		Path: program, Args: args, Dir: dir, Env: repository.Environ(filepath.Join(dir, "home")), Limits: process.Limits{Timeout: 5 * time.Minute},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(printed)
}

// checkProgram asks an installed convtools for its version and for a conversation of the sample workspace. It fails
// unless both answers are right.
func (r *release) checkProgram(t *testing.T, program string) {
	t.Helper()
	workspace := t.TempDir()
	if err := os.CopyFS(workspace, os.DirFS(filepath.Join(r.root, "testdata", "workspaces", "sample"))); err != nil {
		t.Fatal(err)
	}
	var got struct{ Name, Version, System string }
	if err := json.Unmarshal([]byte(output(t, workspace, program, "version", "--json")), &got); err != nil {
		t.Fatal(err)
	}
	if got.Name != "convtools" || got.Version != r.version || got.System != runtime.GOOS+"/"+runtime.GOARCH {
		t.Errorf("version --json printed %+v, want version %s", got, r.version)
	}
	answer := output(t, workspace, program, "call", "conversation_recall", "query=Why do we retry the gauge feed?")
	if !strings.Contains(answer, "<title>Retry policy for the gauge feed</title>") {
		t.Errorf("conversation_recall answered %s", answer)
	}
}

// TestDebianPackage installs the package below a directory, uses it and removes it.
func TestDebianPackage(t *testing.T) {
	r := builtRelease(t)
	if _, err := exec.LookPath("dpkg"); err != nil {
		t.Skip("dpkg is not in PATH")
	}
	packages, err := filepath.Glob(filepath.Join(r.dist, "*_linux_"+runtime.GOARCH+".deb"))
	if err != nil || len(packages) != 1 {
		t.Fatalf("packages are %v, %v", packages, err)
	}
	root := t.TempDir()
	database := filepath.Join(root, "var", "lib", "dpkg")
	err = errors.Join(
		os.MkdirAll(filepath.Join(database, "info"), 0o755), os.Mkdir(filepath.Join(database, "updates"), 0o755),
		os.WriteFile(filepath.Join(database, "status"), nil, 0o644),
	)
	if err != nil {
		t.Fatal(err)
	}
	output(t, root, "dpkg", "--root="+root, "--force-not-root", "--install", packages[0])
	r.checkProgram(t, filepath.Join(root, "usr", "bin", "convtools"))
	share := filepath.Join(root, "usr", "share")
	for _, file := range []string{
		"bash-completion/completions/convtools", "doc/convtools/THIRD_PARTY_LICENSES", "doc/convtools/copyright", "fish/vendor_completions.d/convtools.fish",
		"man/man1/convtools-recall.1.gz", "man/man1/convtools.1.gz", "zsh/vendor-completions/_convtools",
	} {
		if info, err := os.Stat(filepath.Join(share, filepath.FromSlash(file))); err != nil || info.Mode() != 0o644 || info.Size() == 0 {
			t.Errorf("the package has no proper %s: %v", file, err)
		}
	}
	output(t, root, "dpkg", "--root="+root, "--force-not-root", "--remove", "convtools")
	if left, err := os.ReadDir(share); err == nil {
		t.Errorf("removing it left %v", left)
	}
}

// TestNPMPackage installs the package as users do, from a registry, and uses it.
func TestNPMPackage(t *testing.T) {
	r := builtRelease(t)
	packages, err := r.packages()
	if err != nil {
		t.Fatal(err)
	}
	registry := httptest.NewServer(registry(r.dist, packages))
	defer registry.Close()
	dir := t.TempDir()
	output(t, dir, "npm", "install", "--prefix", dir, "--registry", registry.URL, "--cache", filepath.Join(dir, "cache"), "convtools")
	for _, file := range []string{"bin/*", "THIRD_PARTY_LICENSES"} {
		found, err := filepath.Glob(filepath.Join(dir, "node_modules", "@convtools", "*", filepath.FromSlash(file)))
		if err != nil || len(found) != 1 {
			t.Errorf("%s is %v, %v; want that of this platform alone", file, found, err)
		}
	}
	program := filepath.Join(dir, "node_modules", ".bin", "convtools")
	r.checkProgram(t, program)
	checkExit(t, program)
}

// checkExit checks how the program of the package for all platforms ends. Its exit code is that of the program that it
// runs. If a host ends it, it ends after that program.
func checkExit(t *testing.T, program string) {
	t.Helper()
	env := repository.Environ(t.TempDir())
	wrong := exec.CommandContext(t.Context(), program, "--no-such-flag")
	wrong.Env = env
	if err := wrong.Run(); wrong.ProcessState.ExitCode() != 2 {
		t.Errorf("a wrong flag: %v, want exit code 2", err)
	}
	server := exec.CommandContext(t.Context(), program, "mcp", "--workspace", t.TempDir())
	server.Env = env
	stdin, err1 := server.StdinPipe()
	stdout, err2 := server.StdoutPipe()
	if err := errors.Join(err1, err2, server.Start()); err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	lines := bufio.NewReader(stdout)
	_, err := io.WriteString(stdin, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n")
	if line, readErr := lines.ReadString('\n'); err != nil || readErr != nil {
		t.Fatalf("the server answered %q: %v, %v", line, err, readErr)
	}
	if err := server.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = stdout.(*os.File).SetReadDeadline(time.Now().Add(30 * time.Second))
	if _, err := io.Copy(io.Discard, lines); err != nil {
		t.Errorf("the server goes on after SIGTERM: %v", err)
	}
	if err := server.Wait(); err != nil {
		t.Errorf("the server ended with %v", err)
	}
}

// registry is a registry of npm with the packages of a release.
func registry(dist string, packages []npmPackage) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/files/", http.StripPrefix("/files", http.FileServer(http.Dir(dist))))
	mux.HandleFunc("/", func(w http.ResponseWriter, request *http.Request) {
		i := slices.IndexFunc(packages, func(p npmPackage) bool { return "/"+p.Name == request.URL.Path })
		if i < 0 {
			http.NotFound(w, request)
			return
		}
		type file struct {
			Tarball string `json:"tarball"`
		}
		type version struct {
			npmPackage
			Dist file `json:"dist"`
		}
		p := packages[i]
		_ = json.NewEncoder(w).Encode(map[string]any{
			"name": p.Name, "dist-tags": map[string]string{"latest": p.Version},
			"versions": map[string]version{p.Version: {p, file{"http://" + request.Host + "/files/" + p.file()}}},
		})
	})
	return mux
}

// TestBundle has the command line for bundles check the bundle and unpack it.
func TestBundle(t *testing.T) {
	r := builtRelease(t)
	dir := t.TempDir()
	output(t, dir, "npm", "install", "--prefix", dir, "--ignore-scripts", "@anthropic-ai/mcpb@"+mcpbVersion)
	mcpb, unpacked := filepath.Join(dir, "node_modules", ".bin", "mcpb"), filepath.Join(dir, "unpacked")
	output(t, dir, mcpb, "unpack", filepath.Join(r.dist, "convtools_"+r.version+".mcpb"), unpacked)
	output(t, dir, mcpb, "validate", unpacked)
	for _, p := range bundled {
		want, err := r.program(p.goos, p.goarch)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(unpacked, p.name)
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
			t.Errorf("the bundle has another %s than dist: %v", p.name, err)
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != fs.FileMode(0o755) {
			t.Errorf("%s cannot be run: %v", p.name, err)
		}
	}
}

// TestChecksums has sha256sum check what is in dist.
func TestChecksums(t *testing.T) {
	r := builtRelease(t)
	if _, err := exec.LookPath("sha256sum"); err != nil {
		t.Skip("sha256sum is not in PATH")
	}
	checked := output(t, r.dist, "sha256sum", "--check", "--strict", "convtools_"+r.version+"_checksums.txt")
	// Archives and SBOMs for 6 platforms, 2 Debian packages, 7 of npm, and a bundle.
	if n := strings.Count(checked, ": OK\n"); n != 6+6+2+7+1 {
		t.Errorf("%d files have checksums:\n%s", n, checked)
	}
}
