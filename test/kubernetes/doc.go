// Package kubernetes renders deploy/helm with Helm's own engine, holds the result against
// the types of the Kubernetes API, member by member, and against deploy/kubernetes.yaml.
// It has no code but tests.
package kubernetes
