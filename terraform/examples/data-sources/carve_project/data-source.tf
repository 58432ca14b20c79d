data "carve_project" "this" {
  name = "team-a"
}
