package dispatch

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/internal/text"
)

// Output says how much of a result a model is shown.
type Output struct {
	// MaxBytes bounds the text of a result; 0 means [DefaultMaxBytes]. Of a longer one, the
	// beginning and the end are shown, and a line between them says how much is left out.
	MaxBytes int
	// MaxMedia bounds how many images and the like a result has, MaxMediaBytes how large
	// each may be, in bytes before base64; 0 means 4 of 5 MB. The rest is left out, with a
	// line that says so.
	MaxMedia, MaxMediaBytes int
	// Spill is a folder: a text that is cut is written there whole, into a file that only
	// its owner can read, and the line names the file. "" writes none.
	Spill string
}

// Defaults of an [Output].
const (
	DefaultMaxBytes      = 48 << 10
	DefaultMaxMedia      = 4
	DefaultMaxMediaBytes = 5 << 20
)

// limit cuts a result to what a model is shown.
func (o *Output) limit(r *Result) {
	most := o.MaxBytes
	if most <= 0 {
		most = DefaultMaxBytes
	}
	if !utf8.ValidString(r.Text) {
		r.Text = strings.ToValidUTF8(r.Text, "\uFFFD")
	}
	if len(r.Text) > most {
		note := ""
		if o.Spill != "" {
			if name, err := spill(o.Spill, r.Call.ID, r.Text); err != nil {
				note = "; it could not be written to a file"
			} else {
				r.Spilled, note = name, "; all of it: "+name
			}
		}
		r.Text = cut(r.Text, most, note)
	}
	if len(r.Media) > 0 {
		o.limitMedia(r)
	}
}

// cut keeps the beginning and the end of a text, at the ends of lines if some are near.
func cut(s string, most int, note string) string {
	head, tail := most*2/3, most/3
	head = text.WholeRunes(s[:head])
	from := len(s) - tail
	for from < len(s) && s[from]&0xC0 == 0x80 {
		from++
	}
	const near = 400
	if i := strings.LastIndexByte(s[max(0, head-near):head], '\n'); i >= 0 {
		head = max(0, head-near) + i + 1
	}
	if i := strings.IndexByte(s[from:min(len(s), from+near)], '\n'); i >= 0 {
		from += i + 1
	}
	before := ""
	if head > 0 && s[head-1] != '\n' {
		before = "\n"
	}
	return s[:head] + before + fmt.Sprintf("[… %s bytes left out%s]\n", grouped(from-head), note) + s[from:]
}

// grouped writes a number with commas.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// spill writes a text into a new file of a folder, and returns its path. What the model
// wrote has no part in the name.
func spill(folder, id, s string) (string, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(id))
	base := "call_" + hex.EncodeToString(sum[:6])
	for i := range 1000 {
		name := filepath.Join(folder, base+".txt")
		if i > 0 {
			name = filepath.Join(folder, base+"_"+strconv.Itoa(i+1)+".txt")
		}
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if os.IsExist(err) {
			continue
		}
		if err != nil {
			return "", err
		}
		if _, err := f.WriteString(s); err != nil {
			_ = f.Close() // the first error is the one to tell
			return "", err
		}
		return name, f.Close()
	}
	return "", os.ErrExist
}

// limitMedia leaves out what is too much.
func (o *Output) limitMedia(r *Result) {
	most, size := o.MaxMedia, o.MaxMediaBytes
	if most <= 0 {
		most = DefaultMaxMedia
	}
	if size <= 0 {
		size = DefaultMaxMediaBytes
	}
	var kept []adapters.Media
	for _, m := range r.Media {
		if len(kept) < most && len(m.Data)/4*3 <= size {
			kept = append(kept, m)
			continue
		}
		r.Text += fmt.Sprintf("\n[%s, %d KB, left out]", or(m.MIMEType, "a file"), (len(m.Data)*3/4+1023)/1024)
	}
	r.Media = kept
}
