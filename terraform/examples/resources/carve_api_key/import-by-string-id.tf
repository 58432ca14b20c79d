import {
  to = carve_api_key.pipeline
  id = "team-a/pipeline"
}
