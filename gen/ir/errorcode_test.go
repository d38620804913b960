package ir_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/gen/ir/irtest"
)

func TestErrorCodesOfTools(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"conversation_grep": "malformed_arguments unknown_parameter missing_parameter wrong_type not_allowed below_minimum above_maximum too_short too_long too_few_items too_many_items pattern_mismatch blank not_single_line",
		"conversation_list": "malformed_arguments unknown_parameter wrong_type not_allowed below_minimum above_maximum too_long not_single_line",
		"conversation_read": "malformed_arguments unknown_parameter missing_parameter wrong_type below_minimum pattern_mismatch mutually_exclusive",
		"learn":             "malformed_arguments unknown_parameter missing_parameter wrong_type too_long too_many_items blank",
		"note_add":          "malformed_arguments unknown_parameter missing_parameter wrong_type too_short too_long too_many_items blank not_single_line",
		"note_clear":        "malformed_arguments unknown_parameter",
	}
	got := map[string]string{}
	for _, tool := range irtest.Contract().Tools() {
		var codes []string
		for _, code := range tool.ErrorCodes() {
			codes = append(codes, string(code.Code))
		}
		got[tool.Name] = strings.Join(codes, " ")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("error codes (-want +got):\n%s", diff)
	}
}
