data "carve_consumers" "live" {
  phase = "Live"
}
