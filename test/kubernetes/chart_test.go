package kubernetes

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write deploy/kubernetes.yaml anew")

const (
	chartDir = "../../deploy/helm"
	plain    = "../../deploy/kubernetes.yaml"
)

// render returns the manifests of the chart, sorted by the file of their template.
func render(t *testing.T, values string) string {
	t.Helper()
	c, err := loader.Load(chartDir)
	if err != nil {
		t.Fatal(err)
	}
	var own map[string]any
	if err := yaml.Unmarshal([]byte(values), &own); err != nil {
		t.Fatal(err)
	}
	merged, err := chartutil.ToRenderValues(c, own,
		chartutil.ReleaseOptions{Name: "shuffled", Namespace: "shuffled", IsInstall: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	files, err := engine.Engine{Strict: true}.Render(c, merged)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if text := strings.TrimSpace(files[name]); text != "" {
			all.WriteString("---\n" + text + "\n")
		}
	}
	return all.String()
}

// objects decodes manifests. A member that the API does not have is an error.
func objects(t *testing.T, manifests string) (all []any) {
	t.Helper()
	for text := range strings.SplitSeq(manifests, "---\n") {
		if strings.TrimSpace(text) == "" {
			continue
		}
		var head struct{ APIVersion, Kind string }
		if err := yaml.Unmarshal([]byte(text), &head); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		of := map[string]any{"apps/v1/StatefulSet": new(appsv1.StatefulSet), "v1/Service": new(corev1.Service),
			"policy/v1/PodDisruptionBudget":      new(policyv1.PodDisruptionBudget),
			"networking.k8s.io/v1/NetworkPolicy": new(networkingv1.NetworkPolicy)}[head.APIVersion+"/"+head.Kind]
		if of == nil {
			t.Fatalf("no type for %+v", head)
		}
		if err := yaml.UnmarshalStrict([]byte(text), of); err != nil {
			t.Errorf("%s: %v\n%s", head.Kind, err, text)
		}
		all = append(all, of)
	}
	return all
}

// TestLint: Helm's linter has no warning and no error for the chart. Information, such as that it has
// no icon, is no failure.
func TestLint(t *testing.T) {
	dir, err := filepath.Abs(chartDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range lint.All(dir, nil, "shuffled", true).Messages {
		if m.Severity > support.InfoSev {
			t.Error(m)
		}
	}
}

// TestManifests: with each set of values, the chart renders objects of the API that run the daemon as
// docs/operations/install.md says, and deploy/kubernetes.yaml is what the chart renders.
func TestManifests(t *testing.T) {
	for name, values := range map[string]string{
		"as it is": "", "TLS": "tlsSecret: certificate", "one": "replicas: 1\nnetworkPolicy: {enabled: false}",
		"all": "image: {digest: 'sha256:00'}\nstorage: {className: fast}\nnodeSelector: {a: b}\ntolerations: [{key: a}]\n" +
			"networkPolicy: {api: [{podSelector: {matchLabels: {a: b}}}], metrics: []}\npodAnnotations: {}",
	} {
		t.Run(name, func(t *testing.T) {
			all := objects(t, render(t, values))
			if want := map[string]int{"one": 3}[name]; want != 0 && len(all) != want || want == 0 && len(all) != 5 {
				t.Errorf("%d objects", len(all))
			}
			for _, o := range all {
				if s, ok := o.(*appsv1.StatefulSet); ok {
					confined(t, s)
				}
			}
		})
	}
	text := "# Written from deploy/helm with its own values:\n" +
		"#     go test -C test ./kubernetes -update\n" + render(t, "")
	if *update {
		if err := os.WriteFile(plain, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stored, err := os.ReadFile(plain)
	if err != nil || string(stored) != text {
		t.Errorf("%s is not what the chart renders: go test -C test ./kubernetes -update (%v)", plain, err)
	}
}

// confined checks that the pod has only the rights that it needs, that its limits and probes are set,
// and that the marks are kept when the StatefulSet is deleted.
func confined(t *testing.T, s *appsv1.StatefulSet) {
	t.Helper()
	pod := s.Spec.Template.Spec
	c := pod.Containers[0]
	yes := func(b *bool) bool { return b != nil && *b }
	for what, holds := range map[string]bool{
		"not root":                    yes(pod.SecurityContext.RunAsNonRoot),
		"no token of the API":         pod.AutomountServiceAccountToken != nil && !*pod.AutomountServiceAccountToken,
		"no rights":                   slices.Equal(c.SecurityContext.Capabilities.Drop, []corev1.Capability{"ALL"}),
		"no more rights":              !yes(c.SecurityContext.AllowPrivilegeEscalation) && !yes(c.SecurityContext.Privileged),
		"a file system to read":       yes(c.SecurityContext.ReadOnlyRootFilesystem),
		"no memory without limit":     !c.Resources.Limits.Memory().IsZero(),
		"liveness is of the process":  c.LivenessProbe.HTTPGet.Path == "/healthz",
		"readiness is of the ledgers": c.ReadinessProbe.HTTPGet.Path == "/readyz",
		"time to stop":                *pod.TerminationGracePeriodSeconds >= 90,
		"marks are kept": s.Spec.PersistentVolumeClaimRetentionPolicy.WhenDeleted ==
			appsv1.RetainPersistentVolumeClaimRetentionPolicyType,
		"a disk is one pod's": slices.Equal(s.Spec.VolumeClaimTemplates[0].Spec.AccessModes,
			[]corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}),
	} {
		if !holds {
			t.Errorf("not so: %s", what)
		}
	}
	for _, v := range pod.Volumes {
		if v.Secret != nil && *v.Secret.DefaultMode != 0o440 {
			t.Errorf("secret %s has mode %04o: the daemon refuses what is wider than 0440", v.Name, *v.Secret.DefaultMode)
		}
	}
}
