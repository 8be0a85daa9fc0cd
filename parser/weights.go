package parser

// weights are the factors of evidence: what each piece of it leaves of a confidence of
// one. What was judged is where the fit began and is drawn back to; what was fitted is
// what counts. "go run ./internal/corpus/fit" fits it; docs/confidence.md explains it.
var weights = map[string]struct {
	component      component
	judged, fitted float64
}{
	"native":           {contextual, 1, 1},
	"marked":           {contextual, 0.99, 0.996},
	"tool_fence":       {contextual, 0.95, 0.983},
	"bare":             {contextual, 0.9, 0.973},
	"inline":           {contextual, 0.7, 0.7},
	"in_reasoning":     {contextual, 0.75, 0.75},
	"missing_open":     {contextual, 0.85, 0.947},
	"foreign_close":    {structural, 0.85, 0.86},
	"missing_close":    {structural, 0.96, 0.986},
	"guessed":          {structural, 0.8, 0.771},
	"assisted":         {structural, 0.85, 0.85},
	"concluded":        {contextual, 0.9, 0.9},
	"repair_plain":     {structural, 0.98, 0.993},
	"repair_doubtful":  {structural, 0.88, 0.909},
	"no_tools":         {semantic, 0.93, 0.93},
	"name_near":        {semantic, 0.92, 0.973},
	"name_unknown":     {semantic, 0.5, 0.5},
	"shape_loose":      {semantic, 0.92, 0.973},
	"invalid":          {semantic, 0.6, 0.6},
	"missing_required": {completeness, 0.6, 0.591},
	"truncated":        {completeness, 0.4, 0.4},
	"placeholder":      {plausibility, 0.3, 0.292},
}
