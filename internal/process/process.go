// Package process has what is common to programs that are started as servers or tools:
// what they see of the environment, and how all that they start is ended.
package process

import (
	"os"
	"os/exec"
	"slices"
	"strings"
)

// usual are the environment variables that programs need to be found and to run: paths,
// locale, proxies and certificates. Keys are not among them.
var usual = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_*", "TERM", "TMPDIR", "TZ", "XDG_*", "SSL_CERT_FILE", "SSL_CERT_DIR",
	"NODE_EXTRA_CA_CERTS", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
	"SystemRoot", "APPDATA", "LOCALAPPDATA", "USERPROFILE",
}

// Environment returns what a program gets of the environment: the usual variables, and
// more of them, as NAME or NAME_*, which are inherited, or as NAME=value.
func Environment(more []string) []string {
	allowed := append(slices.Clone(usual), more...)
	var env []string
	for _, e := range os.Environ() {
		name, _, _ := strings.Cut(e, "=")
		if slices.ContainsFunc(allowed, func(a string) bool {
			prefix, wild := strings.CutSuffix(a, "*")
			return a == name || wild && strings.HasPrefix(name, prefix)
		}) {
			env = append(env, e)
		}
	}
	for _, e := range more {
		if strings.Contains(e, "=") {
			env = append(env, e)
		}
	}
	return env
}

// Own gives a program a group of its own before it is started, so that what it starts ends
// with it. A context that is done kills the group.
func Own(cmd *exec.Cmd) { own(cmd) }

// End kills what a program that has been waited for has left behind of its group.
func End(cmd *exec.Cmd) {
	if cmd.Process != nil {
		end(cmd)
	}
}

// Terminate asks a program, and all of its group, to end. Where there are no such signals
// it is killed.
func Terminate(cmd *exec.Cmd) {
	if cmd.Process != nil {
		terminate(cmd)
	}
}
