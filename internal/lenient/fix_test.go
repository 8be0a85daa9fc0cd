package lenient

import (
	"slices"
	"testing"
)

func TestFixes(t *testing.T) {
	var names []string
	for k := range numberOfFixKinds {
		names = append(names, k.String())
	}
	slices.Sort(names)
	if len(slices.Compact(names)) != int(numberOfFixKinds) || names[0] == "" {
		t.Errorf("the names are not unique: %q", names)
	}
	var f, g Fixes
	for i := range 2 * maxFixes {
		f.Add(i, TrailingComma)
	}
	g.Add(7, Comment)
	f.Merge(&g)
	if len(f.List) != maxFixes || !f.Has(Comment) || !f.Any() || !slices.Equal(f.Names(), []string{"trailing_comma", "comment"}) {
		t.Errorf("%d fixes, %q", len(f.List), f.Names())
	}
	if (&Fixes{}).Any() || (&Fixes{}).Names() != nil {
		t.Error("there are fixes where there are none")
	}
}
