data "carve_quotas" "all" {}
