data "carve_space" "default" {
  name = "default"
}
