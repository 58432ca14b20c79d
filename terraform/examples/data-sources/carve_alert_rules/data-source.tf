data "carve_alert_rules" "all" {}
