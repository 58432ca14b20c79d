data "carve_api_keys" "all" {}
