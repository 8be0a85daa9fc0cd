package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSamePicture holds that a button is the same picture, whoever wrote its calls and
// however.
func TestSamePicture(t *testing.T) {
	want, err := os.ReadFile("testdata/button.svg")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) != 5 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		said, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var out, warn bytes.Buffer
		if err := draw(context.Background(), said, &out, &warn); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if diff := cmp.Diff(string(want), out.String()); diff != "" || warn.Len() > 0 {
			t.Errorf("%s: %s %s", file, diff, &warn)
		}
	}
}

func TestWrong(t *testing.T) {
	var out, warn bytes.Buffer
	said := `Action: {"tool": "set_corner_radius", "radius": 8}`
	if err := draw(context.Background(), []byte(said), &out, &warn); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(warn.String(), "layer") || strings.Contains(out.String(), "rect") {
		t.Errorf("%s %s", &out, &warn)
	}
}
