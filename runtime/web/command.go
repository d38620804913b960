package web

import (
	"fmt"
	"net"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/toolset"
)

// softMemory is the number of bytes from which on unused memory is collected at once: the page stays open for hours.
const softMemory = 64 << 20

// Command returns the command web, which shows the pages of families too.
func Command(host *toolset.Host, families ...toolset.Family) *cobra.Command {
	noBrowser := false
	cmd := &cobra.Command{
		Use:   "web",
		Short: "Look at recorded conversations in a browser",
		Long: `Opens a page on this machine with all recorded conversations, and prints its
address. Nobody without that address gets in, and the page changes nothing. The
command ends with Ctrl-C, or after an hour without an open page.`,
		Example: cli.Examples(host.Name, "web", "web --no-browser"),
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			listener, err := (&net.ListenConfig{}).Listen(cmd.Context(), "tcp4", "127.0.0.1:0")
			if err != nil {
				return fmt.Errorf("opening a port for the page: %w", err)
			}
			debug.SetMemoryLimit(softMemory)
			s := New(host, families...)
			fmt.Fprintln(host.Stdout, s.Address(listener))
			if !noBrowser {
				go openBrowser(host, addressWith(s.keys.ticket, listener))
			}
			return s.Serve(cmd.Context(), listener)
		},
	}
	cmd.Flags().BoolVar(&noBrowser, "no-browser", false, "only print the address")
	return cmd
}

// openBrowser opens an address in the user's browser, which outlives this program. It warns if no browser has opened.
func openBrowser(host *toolset.Host, address string) {
	opener := exec.Command("xdg-open", address)
	switch runtime.GOOS {
	case "darwin": // the arguments of open could be seen by other users
		opener = exec.Command("osascript")
		opener.Stdin = strings.NewReader(`open location "` + address + `"`)
	case "windows":
		opener = exec.Command("rundll32", "url.dll,FileProtocolHandler", address)
	}
	opener.SysProcAttr = apart()
	if err := opener.Run(); err != nil {
		cli.Warn(host.Stderr, "no browser has opened; open the address yourself")
	}
}
