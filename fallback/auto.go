package fallback

import (
	"context"
	"errors"
	"strings"

	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/internal/repair"
)

// AutoRepair repairs broken JSON: with the lenient reader, then with jsonrepair, on at most
// 32 KB. As the first tier of a chain it works where the broken call stands, so that a
// stream has the call in its place; elsewhere it works at the end of the text.
type AutoRepair struct{}

// Strategy is "auto_repair".
func (AutoRepair) Strategy() Strategy { return StrategyAutoRepair }

// Applies reports whether something could not be read.
func (AutoRepair) Applies(k *Case) bool {
	for i := range k.Failures {
		if k.Failures[i].Unreadable() && k.Repairs > 0 {
			return true
		}
	}
	return false
}

// Recover repairs what could not be read.
func (AutoRepair) Recover(ctx context.Context, k *Case) (r Recovery, err error) {
	var tried []string
	repairs := k.Repairs
	for i := range k.Failures {
		f := &k.Failures[i]
		if !f.Unreadable() || repairs == 0 || ctx.Err() != nil {
			continue
		}
		repairs--
		repaired, cause := repair.JSON(f.Broken)
		if cause != nil {
			err = errors.Join(err, cause)
			continue
		}
		tried = append(tried, repaired.By)
		tool := ""
		if f.ArgumentsOnly {
			tool = f.Tool
		}
		r.Proposals = append(r.Proposals, Proposal{
			Failure: i, Tool: tool, Value: repaired.Value, Raw: f.Raw, Span: f.Span, Provenance: f.Provenance, Method: call.MethodPartial,
			Truncated: f.Truncated, Fixes: repaired.Fixes,
		})
	}
	if r.Tried = strings.Join(tried, ", "); r.Tried == "" {
		r.Tried = "lenient_reader, jsonrepair"
	} else {
		err = nil
	}
	return r, err
}
