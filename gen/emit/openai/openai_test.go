package openai_test

import (
	"testing"

	"github.com/convtools/convtools/gen/emit/openai"
	"github.com/convtools/convtools/gen/emit/schema"
	"github.com/convtools/convtools/gen/ir/irtest"
)

func TestGolden(t *testing.T) {
	t.Parallel()
	files, err := openai.Emit(irtest.Contract(), schema.Schemas())
	if err != nil {
		t.Fatal(err)
	}
	irtest.Golden(t, files)
}
