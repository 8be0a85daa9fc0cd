package dialects_test

import (
	"testing"

	"github.com/callwright/callwright/extractor"
	"github.com/callwright/callwright/extractor/dialects"
)

func TestTable(t *testing.T) {
	if _, err := extractor.NewTable(dialects.All()...); err != nil {
		t.Fatal(err)
	}
}
