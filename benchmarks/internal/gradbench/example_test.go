package gradbench_test

import (
	"fmt"
	"os"
	"strings"

	"revnum/benchmarks/internal/gradbench"
)

func ExampleTool_Serve() {
	in := strings.NewReader(`{"id":0,"kind":"start"}
{"id":1,"kind":"define","module":"gmm"}
{"id":2,"kind":"evaluate","module":"gmm","function":"objective"}
`)
	if err := gradbench.Revnum.Serve(in, os.Stdout, 1); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"id":0,"tool":"revnum"}
	// {"id":1,"success":true}
	// {"id":2,"success":false,"error":"the field \"input\" is missing"}
}
