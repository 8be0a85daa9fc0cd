//go:build unix

package process

import (
	"context"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestEnvironment(t *testing.T) {
	t.Setenv("SECRET_KEY", "s")
	t.Setenv("LC_TEST", "c")
	t.Setenv("MY_A", "1")
	t.Setenv("MY_B", "2")
	env := Environment([]string{"MY_A", "NEW=x"})
	for _, want := range []string{"LC_TEST=c", "MY_A=1", "NEW=x"} {
		if !slices.Contains(env, want) {
			t.Errorf("no %s", want)
		}
	}
	if s := strings.Join(env, "\n"); strings.Contains(s, "SECRET_KEY") || strings.Contains(s, "MY_B") {
		t.Error(s)
	}
	if env := Environment([]string{"MY_*"}); !slices.Contains(env, "MY_B=2") {
		t.Error(env)
	}
}

// TestGroup holds that what a program starts ends with it.
func TestGroup(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", "sleep 60 & echo started; wait")
	Own(cmd)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	cancel()
	_ = cmd.Wait() // it was killed
	End(cmd)
	for deadline := time.Now().Add(5 * time.Second); syscall.Kill(-cmd.Process.Pid, 0) == nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("its child goes on")
		}
	}
}
