resource "carve_project" "shops" {
  name                = "shops"
  display_name        = "Shops in Europe"
  labels              = { cost-centre = "4711" }
  deletion_protection = false # true keeps Terraform from destroying it
}
