// Package kubernetes renders deploy/helm with Helm's own engine. It checks every member of the result against the types
// of the Kubernetes API, and compares the result with deploy/kubernetes.yaml. The package contains only tests.
package kubernetes
