package metrics

// Severity says how bad an error is.
type Severity string

// The severities.
const (
	// Critical is an internal error, or a limit that stopped a parse.
	Critical Severity = "critical"
	// High is a call that was meant and could not be read.
	High Severity = "high"
	// Medium is a call that does not fit its tool.
	Medium Severity = "medium"
	// Low is a candidate that was rightly not called, or a canceled parse.
	Low Severity = "low"
)

// severities has all codes: labels are from this closed set.
var severities = map[string]Severity{
	FailureTimeout: Critical, FailureTooLarge: Critical, FailureInternal: Critical, FailureOther: Critical, FailureCanceled: Low,
	"malformed": High, "truncated": High, "unknown_tool": High,
	"required_parameter_missing": Medium, "invalid_type": Medium, "invalid_enum_value": Medium, "number_out_of_range": Medium,
	"string_pattern_mismatch": Medium,
	"unknown_parameter":       Medium, "string_length_out_of_range": Medium, "array_length_out_of_range": Medium, "items_not_unique": Medium,
	"invalid_format":      Medium,
	"number_not_multiple": Medium, "ambiguous_variant": Medium, "schema_violation": Medium, "too_many_calls": Medium,
	"marker_required": Medium, "strict_mode": Medium,
	"expression": Medium, "in_reasoning": Low, "low_confidence": Low, "echo": Low,
}

// SeverityOf returns the severity of a code; [Medium] for unknown ones.
func SeverityOf(code string) Severity {
	if s, ok := severities[code]; ok {
		return s
	}
	return Medium
}

// codeName returns a code, or [Other] if there is no such code.
func codeName(code string) string {
	if _, ok := severities[code]; ok {
		return code
	}
	return Other
}
