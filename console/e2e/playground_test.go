package e2e

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/callwright/callwright/console"
)

const token = "token-of-the-test"

const tools = `[{"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
	"required": ["city"]}}]`

const weather = `<think>Rome, then.</think>One moment. <tool_call>{"name": "get_weather", "arguments": {"city": "Rome", "days": "5",}}</tool_call>
For example {"name": "get_weather", "arguments": {"city": "Oslo"}}`

// browser is a page in a headless Chromium, and what it reported.
type browser struct {
	t       *testing.T
	ctx     context.Context
	mu      sync.Mutex
	reports []string // errors of the console, violations of the policy, and dialogs
	paths   []string // what the server was asked
}

// open starts Chromium at the playground. Without Chromium the test is skipped.
func open(t *testing.T) *browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no chromium in PATH: the page is not tested in a browser (Debian: apt-get install chromium)")
	}
	h, err := console.NewHandler(console.Options{Token: token, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{t: t}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		b.paths = append(b.paths, r.Method+" "+r.URL.String())
		b.mu.Unlock()
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	o := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("headless", "new"), chromedp.WSURLReadTimeout(60*time.Second), chromedp.WindowSize(1280, 1000))
	if os.Geteuid() == 0 { // Chromium refuses root with its sandbox: containers only
		o = append(o, chromedp.NoSandbox)
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), o...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(cancel)
	b.ctx = ctx
	err = chromedp.Listen(ctx, func(e any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := e.(type) {
		case *runtime.EventExceptionThrown:
			b.reports = append(b.reports, e.ExceptionDetails.Text)
		case *log.EventEntryAdded:
			if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
				b.reports = append(b.reports, e.Entry.Text)
			}
		case *page.EventJavascriptDialogOpening:
			b.reports = append(b.reports, "dialog: "+e.Message)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	enableLog := chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, log.Enable, cdp.Empty{})
		return err
	})
	b.do(enableLog, chromedp.Navigate(s.URL+console.Prefix+"#token="+token), chromedp.WaitVisible(chromedp.ID("text")))
	return b
}

func (b *browser) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// eval evaluates an expression of JavaScript.
func eval[T any](b *browser, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// enter puts texts into the page as if they were pasted, and waits for the verdict.
func (b *browser) enter(text, tools, verdict string) {
	b.t.Helper()
	data, err := json.Marshal([]string{text, tools})
	if err != nil {
		b.t.Fatal(err)
	}
	eval[chromedp.Void](b, `{const [text, tools] = `+string(data)+`; document.getElementById("tools").value = tools;
		const e = document.getElementById("text"); e.value = text; e.dispatchEvent(new Event("input"));}`)
	b.wait(`document.getElementById("verdict").textContent === ` + quoted(verdict))
}

func (b *browser) wait(condition string) {
	b.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if eval[bool](b, condition) {
			return
		}
	}
	b.t.Fatalf("%s: the page says %q and %q", condition, eval[string](b, `document.getElementById("verdict").textContent`),
		eval[string](b, `document.getElementById("error").textContent`))
}

func quoted(s string) string {
	data, _ := json.Marshal(s) // strings can be written
	return string(data)
}

// quiet holds that the page reported nothing and asked nothing but the server's own paths.
func (b *browser) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.reports {
		b.t.Error("the page reports:", r)
	}
	for _, p := range b.paths {
		if !strings.HasPrefix(p, "GET "+console.Prefix) && p != "POST "+console.Prefix+"api/explain" || strings.Contains(p, token) {
			b.t.Error("the page asked for", p)
		}
	}
}

// screenshot keeps a picture in the folder of CALLWRIGHT_SCREENSHOTS.
func (b *browser) screenshot(name string) {
	b.t.Helper()
	dir := os.Getenv("CALLWRIGHT_SCREENSHOTS")
	if dir == "" {
		return
	}
	data, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), data, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// TestPlayground shows calls, marks, why, and the replay, by the keyboard only.
func TestPlayground(t *testing.T) {
	b := open(t)
	if hash := eval[string](b, `location.href`); strings.Contains(hash, token) {
		t.Errorf("the address keeps the token: %s", hash)
	}
	b.enter(weather, tools, "1 call, 1 rejected")
	if n := eval[string](b, `document.getElementById("toolcount").textContent`); n != "✓ 1 tool" {
		t.Error(n)
	}
	kinds := eval[map[string]string](b, `Object.fromEntries(["called", "rejected", "reasoning"].map(k =>
		[k, [...document.querySelectorAll("#marked ." + k)].map(e => e.textContent).join("")]))`)
	if !strings.HasPrefix(kinds["called"], `<tool_call>{"name": "get_weather"`) || kinds["reasoning"] != "Rome, then." ||
		!strings.Contains(kinds["rejected"], "Oslo") {
		t.Errorf("%v", kinds)
	}
	b.do(chromedp.KeyEvent("n"))
	b.wait(`document.getElementById("why").textContent.includes("1 get_weather: called")`)
	if focused := eval[string](b, `document.activeElement.getAttribute("aria-label")`); !strings.HasPrefix(focused, "candidate 1 of 2, called, get_weather") {
		t.Error(focused)
	}
	b.screenshot("playground-light")
	b.do(chromedp.KeyEvent("n"))
	b.wait(`document.getElementById("why").textContent.includes("not called") && document.getElementById("why").textContent.includes("for example")`)
	table := eval[string](b, `document.getElementById("arguments").innerText`)
	if !strings.Contains(table, "string_to_number") || !strings.Contains(table, "as written") {
		t.Error(table)
	}
	// One piece back: something is still to come.
	b.do(chromedp.KeyEvent(kb.ArrowLeft))
	if n := eval[int](b, `document.querySelectorAll("#marked .future").length`); n == 0 {
		t.Error("no text to come after a piece back")
	}
	b.do(chromedp.KeyEvent(kb.ArrowRight))
	if n := eval[int](b, `document.querySelectorAll("#marked .future, #events .coming").length`); n != 0 {
		t.Error("text to come at the end")
	}
	b.do(chromedp.KeyEvent("d"))
	if theme := eval[string](b, `document.documentElement.dataset.theme`); theme != "dark" {
		t.Error(theme)
	}
	b.screenshot("playground-dark")
	b.do(chromedp.EmulateViewport(320, 800))
	if wide := eval[bool](b, `document.documentElement.scrollWidth > 320`); wide {
		t.Error("the page is wider than 320 pixels")
	}
	b.screenshot("playground-narrow")
	b.quiet()
}

// TestPieces replays in pieces of each size: the same calls come.
func TestPieces(t *testing.T) {
	b := open(t)
	b.enter(weather, tools, "1 call, 1 rejected")
	want := ""
	for _, size := range []string{"1", "6", "16", "-1", "0"} {
		eval[chromedp.Void](b, `{const e = document.getElementById("piece"); e.value = `+quoted(size)+`; document.getElementById("events").replaceChildren();
			e.dispatchEvent(new Event("change"));}`)
		b.wait(`document.querySelectorAll("#events tr").length > 0`)
		got := eval[string](b, `[...document.querySelectorAll("#events tr")].filter(r => r.cells[1].textContent === "call_end").map(r => r.cells[2].textContent).join()`)
		if want == "" {
			want = got
		}
		if got != want || got == "" {
			t.Errorf("pieces of %s: %q, not %q", size, got, want)
		}
	}
	b.quiet()
}

// TestHostile shows a text that tries to become markup: it stays text.
func TestHostile(t *testing.T) {
	b := open(t)
	const evil = `"><img src=x onerror=alert(1)><script>alert(2)</script></pre></textarea>`
	text := evil + "\u202eabc\u202c \x00 <tool_call>{\"name\": \"" + strings.ReplaceAll(evil, `"`, `\"`) + "\", \"arguments\": {\"city\": \"</td><svg onload=alert(3)>\"}}</tool_call>" +
		"<tool_call>{\"name\": \"get_weather\", \"arguments\": {\"city\": \"<iframe src=javascript:alert(4)>\", \"<b>\": 1}}</tool_call>" + strings.Repeat("x", 100<<10)
	before := eval[int](b, `document.querySelectorAll("script, img, iframe, b, svg[onload]").length`)
	b.enter(text, strings.Replace(tools, "get_weather\"", `get_weather", "description": "<img src=x onerror=alert(5)>"`, 1), "1 call, 1 rejected")
	b.do(chromedp.KeyEvent("n"), chromedp.KeyEvent("n"))
	if after := eval[int](b, `document.querySelectorAll("script, img, iframe, b, svg[onload]").length`); after != before {
		t.Errorf("%d elements, before %d", after, before)
	}
	shown := eval[string](b, `[...document.querySelectorAll("#marked div")].map(d => [...d.childNodes].filter(n => !n.matches(".tag")).map(n => n.textContent).join("")).join("\n")`)
	for from, to := range map[string]string{"\u202e": "U+202E", "\u202c": "U+202C", "\x00": "U+0000"} {
		text = strings.ReplaceAll(text, from, to)
	}
	if shown != text {
		t.Errorf("the page shows\n%.300s\nnot\n%.300s", shown, text)
	}
	if refused := eval[bool](b, `(() => { try { document.createElement("div").innerHTML = "<i>"; return false } catch { return true } })()`); !refused {
		t.Error("the policy lets a string become markup")
	}
	b.mu.Lock()
	b.reports = nil // of the assignment above
	b.mu.Unlock()
	b.do(chromedp.Sleep(50 * time.Millisecond)) // what a handler of an error would do is done by now
	b.quiet()
}

// TestFile saves the page's text as a file and opens it again.
func TestFile(t *testing.T) {
	b := open(t)
	dir := t.TempDir()
	b.enter(weather, tools, "1 call, 1 rejected")
	data := eval[string](b, `(async () => { let blob; const make = URL.createObjectURL; URL.createObjectURL = x => { blob = x; return make(x) };
		document.getElementById("save").click(); URL.createObjectURL = make; return await blob.text() })()`)
	file := filepath.Join(dir, "playground.json")
	if err := os.WriteFile(file, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	b.enter("hello", "", "0 calls")
	b.do(chromedp.SetUploadFiles(chromedp.ID("file"), []string{file}))
	b.wait(`document.getElementById("verdict").textContent === "1 call, 1 rejected"`)
	if text := eval[string](b, `document.getElementById("text").value`); text != weather {
		t.Errorf("%q", text)
	}
	b.quiet()
}

// TestNoToken opens the page without the token: it says what to do.
func TestNoToken(t *testing.T) {
	b := open(t)
	eval[chromedp.Void](b, `sessionStorage.clear()`)
	eval[chromedp.Void](b, `{const e = document.getElementById("text"); e.value = "x"; e.dispatchEvent(new Event("input"));}`)
	b.wait(`document.getElementById("error").textContent.includes("no valid token")`)
}
