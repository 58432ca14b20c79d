resource "carve_project" "billing" {
  name                = "billing"
  display_name        = "Billing"
  labels              = { cost-centre = "4711" }
  deletion_protection = false # true keeps Terraform from destroying it
}
