package extractor

import (
	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/dialect"
	"github.com/callwright/callwright/internal/scan"
)

type (
	Method      = call.Method
	Provenance  = call.Provenance
	Evidence    = call.Evidence
	Dialect     = dialect.Row
	Writer      = dialect.Writer
	Candidate   = scan.Candidate
	Partial     = scan.Partial
	Scanner     = scan.Scanner
	Table       = scan.Table
	ScanOptions = scan.Options
)

const (
	MethodFullJSON  = call.MethodFullJSON
	MethodPartial   = call.MethodPartial
	MethodBalanced  = call.MethodBalanced
	MethodCodeblock = call.MethodCodeblock
	MethodAssisted  = call.MethodAssisted
	MethodDialect   = call.MethodDialect
	MethodNative    = call.MethodNative
	MethodIntent    = call.MethodIntent
	Native          = call.Native
	Marked          = call.Marked
	Bare            = call.Bare
)

func Harmless(s string) string { return dialect.Harmless(s) }

var NewScanner = scan.New

func NewTable(rows ...Dialect) (*Table, error) {
	return scan.NewTable(dialect.Set{Reasoning: dialect.Builtin().Reasoning, Turns: dialect.Builtin().Turns, Regions: dialect.Builtin().Regions, Dialects: rows})
}

func ParseDialects(data []byte) ([]Dialect, error) {
	s, err := dialect.Parse(data)
	return s.Dialects, err
}
