//go:build !unix

package process

import "os/exec"

// There are no groups: it stays at the program itself.
func own(*exec.Cmd) {}
func end(*exec.Cmd) {}

func terminate(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
