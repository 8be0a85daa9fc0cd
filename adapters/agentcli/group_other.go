//go:build !unix

package agentcli

import "os/exec"

// ownGroup leaves it at ending the program itself: there are no process groups.
func ownGroup(*exec.Cmd) {}

func endGroup(*exec.Cmd) {}
