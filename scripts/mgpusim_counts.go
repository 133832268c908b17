// SPDX-License-Identifier: Apache-2.0

// For public_compare.py: stands in for amd/samples/runner/insttracer.go of MGPUSim v4.0.0 when its samples are built
// (`go build -overlay`). MGPUSim's own file counts all instructions and those of the vector ALU, the latter by the kind
// of whichever instruction a compute unit began last; this one writes all of them by execution unit and name to
// instructions.csv.
package runner

import (
	"fmt"
	"os"
	"sort"

	"github.com/sarchlab/akita/v4/tracing"
	"github.com/sarchlab/mgpusim/v4/amd/insts"
	"github.com/sarchlab/mgpusim/v4/amd/timing/wavefront"
	"github.com/tebeka/atexit"
)

type kindAndName struct{ kind, name string }

var executed = map[kindAndName]uint64{}

type instTracer struct {
	count, simdCount, maxCount uint64
	running                    map[string]kindAndName
	listed                     bool
}

func init() {
	atexit.Register(func() {
		f, err := os.Create("instructions.csv")
		if err != nil {
			panic(err)
		}
		defer f.Close()
		keys := []kindAndName{}
		for key := range executed {
			keys = append(keys, key)
		}
		sort.Slice(keys, func(i, j int) bool {
			return keys[i].kind+keys[i].name < keys[j].kind+keys[j].name
		})
		fmt.Fprintln(f, "kind,name,count")
		for _, key := range keys {
			fmt.Fprintf(f, "%s,%s,%d\n", key.kind, key.name, executed[key])
		}
	})
}

func newInstTracer() *instTracer {
	return &instTracer{running: map[string]kindAndName{}, listed: true}
}

func newInstStopper(maxInst uint64) *instTracer {
	return &instTracer{running: map[string]kindAndName{}, maxCount: maxInst}
}

func (t *instTracer) StartTask(task tracing.Task) {
	if task.Kind != "inst" {
		return
	}
	detail := task.Detail.(map[string]interface{})
	inst := detail["inst"].(*wavefront.Inst).Inst
	kind := task.What
	if kind == "Scalar" && inst.FormatType == insts.SMEM {
		kind = "ScalarMem"
	}
	t.running[task.ID] = kindAndName{kind, inst.InstName}
}

func (t *instTracer) StepTask(task tracing.Task) {}

func (t *instTracer) EndTask(task tracing.Task) {
	which, found := t.running[task.ID]
	if !found {
		return
	}
	delete(t.running, task.ID)
	t.count++
	if which.kind == "VALU" {
		t.simdCount++
	}
	if t.listed {
		executed[which]++
	}
	if t.maxCount > 0 && t.count >= t.maxCount {
		atexit.Exit(0)
	}
}
