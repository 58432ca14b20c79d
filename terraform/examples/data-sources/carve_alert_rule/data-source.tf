data "carve_alert_rule" "pools" {
  name = "pools"
}
