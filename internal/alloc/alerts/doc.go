// Package alerts contains the use cases for alert rules on pool and quota usage, and the job that begins and ends the alerts.
package alerts
