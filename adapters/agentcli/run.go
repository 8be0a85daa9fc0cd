package agentcli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/callwright/callwright/internal/wire"
)

// RunOptions are the options of [Run]. Agent is required.
type RunOptions struct {
	Options
	// Path is the path of the program; empty means the agent's usual name, found in PATH.
	Path string
	// Args are additional arguments. They are passed as they are, without a shell; the
	// prompt is written to standard input.
	Args []string
	// Model is the model; empty is the agent's default.
	Model string
	// Dir is the working directory; empty means the current one.
	Dir string
	// Env are additional environment variables of the program, as NAME, which is inherited,
	// or NAME=value. By default it inherits PATH, HOME, the providers' keys and the like.
	Env []string
	// Timeout is the maximum duration; 0 means [DefaultTimeout], less than 0 none.
	Timeout time.Duration
	// MaxOutputBytes is the maximum size of the output; 0 means [MaxTranscriptBytes].
	MaxOutputBytes int
	// OnEvent is called with each event as it happens.
	OnEvent func(Event)
}

// Defaults of a run.
const (
	DefaultTimeout = 30 * time.Minute
	// killDelay is how long a killed program may keep its output open.
	killDelay = 2 * time.Second
	// maxStderr is how much of standard error is kept, in bytes.
	maxStderr = 1 << 20
)

// Errors of a run.
var (
	// ErrTimeout says that a run took too long.
	ErrTimeout = errors.New("the agent took too long")
	// ErrOutputTooLarge says that a program printed too much.
	ErrOutputTooLarge = errors.New("the agent printed too much")
)

// usualEnv are the environment variables that agents need: paths, locale, proxies, and
// the providers' keys.
var usualEnv = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_*", "TERM", "TMPDIR", "TZ", "XDG_*", "SSL_CERT_FILE", "SSL_CERT_DIR",
	"NODE_EXTRA_CA_CERTS",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
	"ANTHROPIC_*", "CLAUDE_*", "OPENAI_*", "CODEX_*", "GEMINI_*", "GOOGLE_*", "SystemRoot", "APPDATA", "LOCALAPPDATA", "USERPROFILE",
}

// Run runs an agent with a prompt and parses its transcript while it runs. When the context
// is done, or after the timeout, the program and its process group are killed.
//
// Once the program has started, the response is not nil: with an error it holds what came
// before. The error is [ErrTimeout], [ErrOutputTooLarge], [ErrSchema], that of the context,
// or that of starting the program. A failure that the agent reports, or an exit code, is in
// the response and is not an error.
func Run(ctx context.Context, prompt string, o RunOptions) (*Response, error) {
	t, err := newReader(o.Agent)
	if err != nil {
		return nil, err
	}
	if o.MaxOutputBytes <= 0 {
		o.MaxOutputBytes = MaxTranscriptBytes
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	caller := ctx
	if o.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.Timeout)
		defer cancel()
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	path, args := commandLine(&o)
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = o.Dir
	cmd.Env = environment(o.Env)
	cmd.Stdin = strings.NewReader(prompt)
	stderr := &boundedBuffer{max: maxStderr}
	cmd.Stderr = stderr
	cmd.WaitDelay = killDelay
	ownGroup(cmd)
	t.emit = o.OnEvent
	out := &lines{limit: o.MaxOutputBytes, reader: t, full: stop}
	cmd.Stdout = out
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", o.Agent, err)
	}
	waitErr := cmd.Wait()
	out.end()
	endGroup(cmd) // what it started and left behind
	var exit *exec.ExitError
	if errors.As(waitErr, &exit) && exit.ExitCode() > 0 {
		t.fail(fmt.Sprintf("%s ended with exit code %d: %s", o.Agent, exit.ExitCode(), lastLine(stderr.String())))
		t.r.ExitCode = exit.ExitCode()
	}
	r := t.finish()
	if r.DurationMilliseconds == 0 {
		r.DurationMilliseconds = time.Since(start).Milliseconds()
	}
	r.Raw.Stdout, r.Raw.Stderr = strings.ToValidUTF8(string(out.raw), "\uFFFD"), strings.ToValidUTF8(stderr.String(), "\uFFFD")
	outputErr := r.setOutput(caller, t.text(), o.ResponseSchema)
	switch {
	case caller.Err() != nil:
		return r, caller.Err()
	case out.err != nil:
		return r, out.err
	case ctx.Err() != nil:
		return r, fmt.Errorf("%w: more than %v", ErrTimeout, o.Timeout)
	case waitErr != nil && exit == nil && !errors.Is(waitErr, exec.ErrWaitDelay):
		return r, fmt.Errorf("run %s: %w", o.Agent, waitErr)
	}
	return r, outputErr
}

// commandLine is what runs an agent so that it reads its prompt from standard
// input and writes a transcript.
func commandLine(o *RunOptions) (path string, args []string) {
	switch o.Agent {
	case ClaudeCode:
		path, args = "claude", []string{"--print", "--output-format", "stream-json", "--verbose"}
	case Codex:
		path, args = "codex", []string{"exec", "--json"}
	case GeminiCLI:
		path, args = "gemini", []string{"--output-format", "stream-json"}
	}
	if o.Model != "" {
		args = append(args, "--model="+o.Model)
	}
	args = append(args, o.Args...)
	if o.Agent == Codex {
		args = append(args, "-") // the prompt comes on standard input
	}
	if o.Path != "" {
		path = o.Path
	}
	return path, args
}

// environment is what a program gets of the environment.
func environment(more []string) []string {
	allowed := append(slices.Clone(usualEnv), more...)
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

// lines takes what a program prints, line by line.
type lines struct {
	reader *reader
	raw    []byte
	start  int // of the line that is not whole
	limit  int
	err    error
	full   func(error) // ends the program
}

// Write takes the next piece.
func (l *lines) Write(p []byte) (int, error) {
	if l.err == nil && len(l.raw)+len(p) > l.limit {
		l.err = fmt.Errorf("%w: more than %d bytes", ErrOutputTooLarge, l.limit)
		l.full(l.err)
	}
	if l.err != nil {
		return 0, l.err
	}
	seen := len(l.raw)
	l.raw = append(l.raw, p...)
	for {
		i := bytes.IndexByte(l.raw[seen:], '\n')
		if i < 0 {
			return len(p), nil
		}
		seen += i + 1
		l.line(seen)
	}
}

// line reads the line that ends at an offset.
func (l *lines) line(end int) {
	line := bytes.Clone(bytes.TrimSpace(l.raw[l.start:end]))
	l.start = end
	if o, err := wire.ParseObject(line); err == nil {
		l.reader.event(line, o)
	}
}

// end reads what is left.
func (l *lines) end() { l.line(len(l.raw)) }

// boundedBuffer keeps the first max bytes that are written to it and drops the rest.
type boundedBuffer struct {
	bytes.Buffer
	max int
}

// Write never fails.
func (h *boundedBuffer) Write(p []byte) (int, error) {
	h.Buffer.Write(p[:min(len(p), max(h.max-h.Len(), 0))])
	return len(p), nil
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}
