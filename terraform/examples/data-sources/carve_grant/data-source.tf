data "carve_grant" "everybody" {
  pool     = "prod"
  consumer = "*"
}
