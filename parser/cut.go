package parser

import (
	"slices"
	"strings"

	"github.com/callwright/callwright/internal/text"
	"github.com/callwright/callwright/registry"
	"github.com/callwright/callwright/validator"
)

// withoutCut returns the parameters of a call that was cut off without the one that was
// being written: half a value is not what the model wrote.
func withoutCut(params map[string]any, key string) map[string]any {
	if _, ok := params[key]; !ok {
		return params
	}
	whole := make(map[string]any, len(params))
	for k, v := range params {
		if k != key {
			whole[k] = v
		}
	}
	return whole
}

// withdrawDefaults takes the defaults back that stand in the place of what was being
// written where a call was cut off: of the parameters that begin with the letters that
// were there. It returns what is missing then.
func withdrawDefaults(x *Call, tool *registry.Tool, key string) (missing []validator.Error) {
	if key == "" {
		return nil
	}
	x.Defaults = slices.DeleteFunc(x.Defaults, func(at string) bool {
		keys := text.Keys(at)
		if len(keys) != 1 || !strings.HasPrefix(keys[0], key) {
			return false
		}
		delete(x.Parameters, keys[0])
		if tool.Requires(keys[0]) {
			missing = append(missing, validator.Error{
				Code: validator.RequiredParameterMissing, Path: at, Message: "the text ends where it was being written",
			})
		}
		return true
	})
	return missing
}
