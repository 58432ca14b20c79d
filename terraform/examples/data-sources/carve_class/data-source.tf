data "carve_class" "standard" {
  name = "standard"
}
