package ollamatest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"slices"
)

// The kinds of values in a GGUF file's head, after the format's description
// (github.com/ggml-org/ggml/blob/master/docs/gguf.md).
const (
	ggufUint32  = 4
	ggufInt32   = 5
	ggufFloat32 = 6
	ggufString  = 8
	ggufArray   = 9
)

// The kinds of tokens.
const (
	tokenNormal  = 1
	tokenControl = 3
)

// feedForward is the width of the model's layer, whose weights are all zero.
const feedForward = 256

// errShort says that a script has too few letters to be cut into tokens.
var errShort = errors.New("the script is too short")

// alphabet is how byte-level BPE writes bytes as characters.
func alphabet() (table [256]rune) {
	extra := rune(256)
	for b := range 256 {
		if b >= 33 && b < 127 || b >= 161 && b < 173 || b >= 174 {
			table[b] = rune(b)
		} else {
			table[b] = extra
			extra++
		}
	}
	return table
}

// Special tokens, behind the 256 of the bytes.
const (
	tokenBegin = 256 + iota
	tokenEnd
	tokenUser
	tokenAssistant
	tokenThen // behind it the model says its second script
	firstPiece
)

// vocabulary is the tokens of a model that says scripts: the bytes, the special ones,
// and the pieces of the scripts, no two alike.
type vocabulary struct {
	tokens []string
	kinds  []int32
	starts []int // the first piece of each script
}

func newVocabulary(scripts ...[]byte) (*vocabulary, error) {
	table := alphabet()
	v := &vocabulary{}
	taken := map[string]bool{}
	add := func(s string, kind int32) {
		v.tokens, v.kinds = append(v.tokens, s), append(v.kinds, kind)
		taken[s] = true
	}
	for _, r := range table {
		add(string(r), tokenNormal)
	}
	for _, s := range []string{"<|begin|>", "<|end|>", "<|user|>", "<|assistant|>", "<|then|>"} {
		add(s, tokenControl)
	}
	for _, script := range scripts {
		if err := v.cut(script, &table, taken, add); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// cut cuts a script into pieces.
func (v *vocabulary) cut(script []byte, table *[256]rune, taken map[string]bool, add func(string, int32)) error {
	first := len(v.tokens)
	v.starts = append(v.starts, first)
	letters := make([]rune, len(script))
	for i, b := range script {
		letters[i] = table[b]
	}
	for start := 0; start < len(letters); {
		size := 1
		for start+size <= len(letters) && taken[string(letters[start:start+size])] {
			size++
		}
		if start+size > len(letters) { // the rest is no new piece: join it to the one before
			if len(v.tokens) == first {
				return errShort
			}
			last := len(v.tokens) - 1
			v.tokens[last] += string(letters[start:])
			taken[v.tokens[last]] = true
			break
		}
		add(string(letters[start:start+size]), tokenNormal)
		start += size
	}
	return nil
}

// next is the token that follows each other one.
func (v *vocabulary) next() []int {
	next := make([]int, len(v.tokens))
	for t := range next {
		switch {
		case t == tokenThen && len(v.starts) > 1:
			next[t] = v.starts[1]
		case t < firstPiece:
			next[t] = v.starts[0]
		case t == len(next)-1 || slices.Contains(v.starts, t+1):
			next[t] = tokenEnd
		default:
			next[t] = t + 1
		}
	}
	return next
}

// tensor is one table of weights; write gives its content.
type tensor struct {
	name  string
	shape []int
	fill  func(row []float32, index int) // nil: all zero; else row by row
	one   bool                           // all one
}

// writeModel writes a model of the llama architecture that always says a script, and a
// second one, if there is one, where the prompt ends with the token for it. Its
// attention and feed-forward weights are zero, so that the next token depends on the
// last one alone, and the output matrix chains the pieces one behind the other.
func writeModel(w io.Writer, scripts ...[]byte) error {
	v, err := newVocabulary(scripts...)
	if err != nil {
		return err
	}
	vocab := len(v.tokens)
	width := max(512, (vocab+255)/256*256)
	before := make([][]int, vocab)
	for t, n := range v.next() {
		before[n] = append(before[n], t)
	}
	tensors := []tensor{
		{"token_embd.weight", []int{width, vocab}, func(row []float32, t int) { row[t] = 1 }, false},
		{"output_norm.weight", []int{width}, nil, true},
		{"output.weight", []int{width, vocab}, func(row []float32, n int) {
			for _, t := range before[n] {
				row[t] = 10
			}
		}, false},
	}
	for _, x := range []struct {
		name  string
		shape []int
	}{
		{"attn_norm", []int{width}},
		{"ffn_norm", []int{width}},
		{"attn_q", []int{width, width}},
		{"attn_k", []int{width, width}},
		{"attn_v", []int{width, width}},
		{"attn_output", []int{width, width}},
		{"ffn_gate", []int{width, feedForward}},
		{"ffn_up", []int{width, feedForward}},
		{"ffn_down", []int{feedForward, width}},
	} {
		tensors = append(tensors, tensor{"blk.0." + x.name + ".weight", x.shape, nil, len(x.shape) == 1})
	}
	var head bytes.Buffer
	h := ggufWriter{&head}
	head.WriteString("GGUF")
	h.u32(3)
	h.u64(len(tensors))
	h.u64(19)
	h.text("general.architecture", "llama")
	h.text("general.name", "scripted")
	h.number("general.file_type", 0)
	h.number("llama.context_length", 8192)
	h.number("llama.embedding_length", width)
	h.number("llama.block_count", 1)
	h.number("llama.feed_forward_length", feedForward)
	h.number("llama.attention.head_count", width/64)
	h.number("llama.attention.head_count_kv", width/64)
	h.key("llama.attention.layer_norm_rms_epsilon", ggufFloat32)
	h.u32(int(math.Float32bits(1e-5)))
	h.number("llama.rope.dimension_count", 64)
	h.number("llama.vocab_size", vocab)
	h.text("tokenizer.ggml.model", "gpt2")
	h.text("tokenizer.ggml.pre", "default")
	h.list("tokenizer.ggml.tokens", ggufString, vocab)
	for _, t := range v.tokens {
		h.str(t)
	}
	h.list("tokenizer.ggml.token_type", ggufInt32, vocab)
	for _, k := range v.kinds {
		h.u32(int(k))
	}
	h.list("tokenizer.ggml.merges", ggufString, 0)
	h.number("tokenizer.ggml.bos_token_id", tokenBegin)
	h.number("tokenizer.ggml.eos_token_id", tokenEnd)
	offset := 0
	for _, t := range tensors {
		h.str(t.name)
		h.u32(len(t.shape))
		n := 1
		for _, d := range t.shape {
			h.u64(d)
			n *= d
		}
		h.u32(0)
		h.u64(offset)
		offset += (4*n + 31) / 32 * 32
	}
	for head.Len()%32 != 0 {
		head.WriteByte(0)
	}
	if _, err := w.Write(head.Bytes()); err != nil {
		return err
	}
	for _, t := range tensors {
		if err := t.write(w); err != nil {
			return err
		}
	}
	return nil
}

func (t *tensor) write(w io.Writer) error {
	rows := 1
	if len(t.shape) == 2 {
		rows = t.shape[1]
	}
	row := make([]float32, t.shape[0])
	out := make([]byte, 4*len(row)) // a multiple of 32: all widths are of 64
	for i := range rows {
		clear(row)
		if t.one {
			for j := range row {
				row[j] = 1
			}
		}
		if t.fill != nil {
			t.fill(row, i)
		}
		for j, f := range row {
			binary.LittleEndian.PutUint32(out[4*j:], math.Float32bits(f))
		}
		if _, err := w.Write(out); err != nil {
			return err
		}
	}
	return nil
}

// ggufWriter writes the head of a GGUF file.
type ggufWriter struct{ *bytes.Buffer }

func (w ggufWriter) u32(n int) { w.Write(binary.LittleEndian.AppendUint32(nil, uint32(n))) }
func (w ggufWriter) u64(n int) { w.Write(binary.LittleEndian.AppendUint64(nil, uint64(n))) }

func (w ggufWriter) str(s string) {
	w.u64(len(s))
	w.WriteString(s)
}

func (w ggufWriter) key(key string, kind int) {
	w.str(key)
	w.u32(kind)
}

func (w ggufWriter) text(key, value string) {
	w.key(key, ggufString)
	w.str(value)
}

func (w ggufWriter) number(key string, n int) {
	w.key(key, ggufUint32)
	w.u32(n)
}

func (w ggufWriter) list(key string, kind, n int) {
	w.key(key, ggufArray)
	w.u32(kind)
	w.u64(n)
}

// createModelFile writes a model that says scripts to a file.
func createModelFile(name string, scripts ...string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	var list [][]byte
	for _, s := range scripts {
		list = append(list, []byte(s))
	}
	return errors.Join(writeModel(f, list...), f.Close())
}
