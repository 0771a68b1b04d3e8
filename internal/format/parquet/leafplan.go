package parquet

import (
	"fmt"
	"math/bits"

	"github.com/weir-data/weir/internal/format/parquet/meta"
)

// leafPlan is what is the same for a leaf column in every row group.
type leafPlan struct {
	*meta.Leaf
	target
	slotDef  uint8 // an entry whose definition level is this or more is a slot
	repWidth uint
	defWidth uint
	keepDef  bool // definition levels are needed for the structure above
	keepRep  bool
	lists    int // lists and structs above whose arrays are made from this leaf's levels
	structs  int
	every    int  // values of a row, of columns of fixed-size lists; else 0
	slotNull bool // a slot can be null
	rowNull  bool // with every: a row can be
}

// planLeaves prepares the leaves of the chosen columns, in file order.
func planLeaves(columns []*meta.Node) ([]*leafPlan, error) {
	var out []*leafPlan
	var visit func(n *meta.Node, slotDef uint8, lists, structs int) error
	visit = func(n *meta.Node, slotDef uint8, lists, structs int) error {
		switch n.Kind {
		case meta.LeafKind:
			l, err := planLeaf(n.Leaf)
			if err != nil {
				return damaged("column %q: %w", n.Leaf.Path, err)
			}
			l.slotDef, l.lists, l.structs = slotDef, lists, structs
			if n.Parent != nil && n.Parent.Size > 0 {
				l.fix(n.Parent)
			}
			out = append(out, l)
			return nil
		case meta.ListKind, meta.MapKind:
			lists++
			slotDef = uint8(n.ElemDef)
		case meta.StructKind:
			structs++
		}
		if len(n.Children) == 0 {
			return damaged("column %q: a group without fields", n.Name)
		}
		for i, c := range n.Children {
			if i > 0 {
				// The first leaf below a node describes it.
				lists, structs = 0, 0
			}
			if err := visit(c, slotDef, lists, structs); err != nil {
				return err
			}
		}
		return nil
	}
	for _, c := range columns {
		if err := visit(c, 0, 0, 0); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func planLeaf(leaf *meta.Leaf) (*leafPlan, error) {
	t, err := targetOf(leaf)
	if err != nil {
		return nil, err
	}
	if leaf.MaxDef > 255 || leaf.MaxRep > 255 {
		return nil, fmt.Errorf("nested more than 255 deep")
	}
	nested := leaf.MaxRep > 0 || leaf.Node.Parent != nil
	return &leafPlan{
		Leaf: leaf, target: t,
		repWidth: uint(bits.Len16(uint16(leaf.MaxRep))),
		defWidth: uint(bits.Len16(uint16(leaf.MaxDef))),
		keepDef:  nested && leaf.MaxDef > 0,
		keepRep:  leaf.MaxRep > 0,
		slotNull: leaf.MaxDef > 0,
	}, nil
}

// fix plans for lists that all have one size: where a row's values lie needs
// no levels.
func (l *leafPlan) fix(list *meta.Node) {
	l.every = list.Size
	l.keepDef, l.keepRep, l.lists = false, false, 0
	l.slotNull = l.MaxDef > list.ElemDef
	l.rowNull = list.Def > 0
}
