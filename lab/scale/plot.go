package scale

import (
	"image/color"
	"math"
	"os"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// colours of the operations, in their order. Readers who cannot distinguish red and green can distinguish them (after Paul Tol's schemes).
var colours = []color.RGBA{
	{0x33, 0x22, 0x88, 0xff}, {0xcc, 0x66, 0x77, 0xff}, {0x88, 0x22, 0x55, 0xff}, {0x88, 0xcc, 0xee, 0xff}, {0x44, 0xaa, 0x99, 0xff},
	{0x11, 0x77, 0x33, 0xff}, {0xdd, 0xaa, 0x33, 0xff}, {0x99, 0x99, 0x33, 0xff}, {0xaa, 0x44, 0x99, 0xff}, {0x55, 0x55, 0x55, 0xff},
	{0xbb, 0xbb, 0xbb, 0xff},
}

// panel is one of an axis's plots. It shows times as ratios to the smallest cell. The smallest cell is measured again together with each other cell,
// so a disturbance of the machine affects both.
type panel struct {
	title string
	of    func(*line) float64
}

var panels = []panel{
	{"median, × the smallest", func(l *line) float64 { return l.Ratios.P50 }},
	{"99th percentile, × the smallest", func(l *line) float64 { return l.Ratios.P99 }},
	{"pages for one operation", func(l *line) float64 { return l.Pages }},
}

// drawAxis draws the plots of an axis side by side, with one line for each operation. If cells have a second shape, its lines are dashed.
func drawAxis(a *axis, cells []*result, path string) (err error) {
	row := make([]*plot.Plot, len(panels))
	legend := plot.NewLegend()
	legend.Top, legend.Left = true, true
	for i, p := range panels {
		key := &legend
		if i > 0 {
			key = nil
		}
		if row[i], err = p.draw(a, cells, key); err != nil {
			return err
		}
	}
	const height, right = 11 * vg.Centimeter, 5.6 * vg.Centimeter
	canvas := vgsvg.New(38*vg.Centimeter, height)
	all := draw.New(canvas)
	all.FillPolygon(color.White, []vg.Point{{}, {X: all.Max.X}, all.Max, {Y: all.Max.Y}})
	tiles := draw.Tiles{Rows: 1, Cols: len(row), PadX: 4 * vg.Millimeter, PadTop: 3 * vg.Millimeter, PadBottom: 2 * vg.Millimeter, PadLeft: 2 * vg.Millimeter}
	for i, c := range plot.Align([][]*plot.Plot{row}, tiles, draw.Crop(all, 0, -right, 0, 0))[0] {
		row[i].Draw(c)
	}
	legend.Draw(draw.Crop(all, all.Max.X-right+3*vg.Millimeter, 0, 0, -12*vg.Millimeter))
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if _, err := canvas.WriteTo(file); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}

// draw makes a plot. If legend is not nil, draw adds its lines to the legend.
func (p panel) draw(a *axis, cells []*result, legend *plot.Legend) (*plot.Plot, error) {
	out := plot.New()
	out.Title.Text = p.title
	sizes, shapes := sizesOf(cells), shapesOf(cells)
	out.X.Label.Text = a.unit
	out.NominalX(sizes...)
	out.X.Min, out.X.Max = -0.2, float64(len(sizes))-0.8
	out.Y.Scale, out.Y.Tick.Marker = plot.LogScale{}, decades{}
	out.Add(plotter.NewGrid())
	for k, line := range cells[0].Lines {
		for s, shape := range shapes {
			curve, dots, err := plotter.NewLinePoints(p.points(cells, sizes, shape, k))
			if err != nil {
				return nil, err
			}
			curve.Color, dots.Color, dots.Shape, dots.Radius = colours[k%len(colours)], colours[k%len(colours)], draw.CircleGlyph{}, vg.Points(2)
			curve.Width = vg.Points(1.4)
			if s > 0 {
				curve.Dashes = []vg.Length{vg.Points(4), vg.Points(2)}
			} else if legend != nil {
				legend.Add(line.Operation, curve)
			}
			out.Add(curve, dots)
		}
	}
	if legend != nil && len(shapes) > 1 {
		legend.Add("") // an empty line
		legend.Add("solid: " + shapes[0])
		legend.Add("dashed: " + shapes[1])
	}
	// Use whole powers of ten. A log scale has no zero, and equal bounds would leave no room.
	out.Y.Min, out.Y.Max = math.Pow(10, math.Floor(math.Log10(out.Y.Min))), math.Pow(10, math.Ceil(math.Log10(out.Y.Max)+1e-9))
	return out, nil
}

// points returns the values of an operation along the axis. A cell without a shape belongs to all shapes.
func (p panel) points(cells []*result, sizes []string, shape string, operation int) plotter.XYs {
	var out plotter.XYs
	for _, r := range cells {
		if r.Shape == shape || r.Shape == "" {
			out = append(out, plotter.XY{X: float64(slices.Index(sizes, r.Size)), Y: max(p.of(r.Lines[operation]), 1e-3)})
		}
	}
	return out
}

func sizesOf(cells []*result) []string {
	var out []string
	for _, r := range cells {
		if !slices.Contains(out, r.Size) {
			out = append(out, r.Size)
		}
	}
	return out
}

func shapesOf(cells []*result) []string {
	var out []string
	for _, r := range cells {
		if r.Shape != "" && !slices.Contains(out, r.Shape) {
			out = append(out, r.Shape)
		}
	}
	if len(out) == 0 {
		return []string{""}
	}
	return out
}

// decades are the ticks of an axis: a number at each power of ten, and no number at 2 and 5 between them.
type decades struct{}

// Ticks implements plot.Ticker.
func (decades) Ticks(low, high float64) []plot.Tick {
	var out []plot.Tick
	for at := math.Pow(10, math.Floor(math.Log10(low))); at <= high*1.0001; at *= 10 {
		out = append(out, plot.Tick{Value: at, Label: strconv.FormatFloat(at, 'g', 4, 64)})
		for _, m := range []float64{2, 5} {
			if at*m <= high {
				out = append(out, plot.Tick{Value: at * m})
			}
		}
	}
	return out
}
