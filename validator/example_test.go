package validator_test

import (
	"encoding/json"
	"fmt"

	"github.com/callwright/callwright/registry"
	"github.com/callwright/callwright/validator"
)

func Example() {
	tools, err := registry.Parse([]byte(`{"name": "get_weather", "parameters": {"type": "object", "required": ["city"],
		"properties": {"city": {"type": "string"}, "days": {"type": "integer", "maximum": 7}, "unit": {"enum": ["c", "f"], "default": "c"}}}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := registry.New(tools...)
	if err != nil {
		fmt.Println(err)
		return
	}
	result := validator.Validate(r.Get("get_weather"), map[string]any{"city": "Rome", "days": "3"}, validator.Options{})
	parameters, _ := json.Marshal(result.Parameters)
	fmt.Println(string(parameters), result.Coercions[0].Rule, result.Defaults)

	result = validator.Validate(r.Get("get_weather"), map[string]any{"days": json.Number("12")}, validator.Options{})
	for _, e := range result.Errors {
		fmt.Println(e)
	}
	// Output:
	// {"city":"Rome","days":3,"unit":"c"} string_to_number [/unit]
	// required_parameter_missing at /city: parameter "city" is required
	// number_out_of_range at /days: must be at most 7
}

func ExampleNotCalled() {
	r, err := registry.New(registry.Tool{Name: "set_text", Dependencies: []string{"make_shape"}}, registry.Tool{Name: "make_shape"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(validator.NotCalled(r.Get("set_text"), []string{"set_text"}))
	fmt.Println(validator.NotCalled(r.Get("set_text"), []string{"make_shape", "set_text"}))
	// Output:
	// [dependency_not_called: "make_shape" must run before "set_text", and is not called]
	// []
}
