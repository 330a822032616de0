package main

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// user is the number of the user and the group that the image runs as. The image has no accounts.
const user = 65532

// image writes an OCI image layout for all architectures of Linux, as a tar file that podman, skopeo and docker load.
func (r *release) image([]string) error {
	programs, err := r.of("shuffled")
	if err != nil {
		return err
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, arch := range slices.Sorted(maps.Keys(programs)) {
		img, err := r.imageOf(arch, programs[arch])
		if err != nil {
			return fmt.Errorf("making the image for %s: %w", arch, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{
			Platform:    &v1.Platform{OS: "linux", Architecture: arch},
			Annotations: map[string]string{"org.opencontainers.image.ref.name": r.version}}})
	}
	work, err := os.MkdirTemp("", "image-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if _, err := layout.Write(work, index); err != nil {
		return fmt.Errorf("writing the image: %w", err)
	}
	return r.tar(work, filepath.Join(r.dir, fmt.Sprintf("shuffled-%s-oci.tar", r.version)))
}

func (r *release) imageOf(arch, program string) (v1.Image, error) {
	text, err := os.ReadFile(program)
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	put := func(h tar.Header, data []byte) {
		h.ModTime, h.Size, h.Format = r.time, int64(len(data)), tar.FormatPAX
		if err == nil {
			err = w.WriteHeader(&h)
		}
		if err == nil {
			_, err = w.Write(data)
		}
	}
	for _, dir := range []string{"etc/", "etc/ssl/", "etc/ssl/certs/", "licenses/", "var/", "var/lib/"} {
		put(tar.Header{Typeflag: tar.TypeDir, Name: dir, Mode: 0o755}, nil)
	}
	put(tar.Header{Typeflag: tar.TypeDir, Name: "var/lib/shuffled/", Mode: 0o700, Uid: user, Gid: user}, nil)
	put(tar.Header{Typeflag: tar.TypeReg, Name: "etc/ssl/certs/ca-certificates.crt", Mode: 0o644}, roots())
	put(tar.Header{Typeflag: tar.TypeReg, Name: "shuffled", Mode: 0o755}, text)
	for _, name := range append(licenceFiles, licencesName) {
		var paper []byte
		if err == nil {
			paper, err = os.ReadFile(filepath.Join(r.dir, name))
		}
		put(tar.Header{Typeflag: tar.TypeReg, Name: "licenses/" + name, Mode: 0o644}, paper)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(b.Bytes())), nil
	}, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	if img, err = mutate.AppendLayers(img, layer); err != nil {
		return nil, err
	}
	return mutate.ConfigFile(img, r.config(arch, img))
}

// config returns the configuration of the image, which is that of deploy/Containerfile.
func (r *release) config(arch string, img v1.Image) *v1.ConfigFile {
	c, err := img.ConfigFile()
	if err != nil {
		panic(err) // cannot happen: the image was made here, in memory
	}
	c = c.DeepCopy()
	c.OS, c.Architecture, c.Created = "linux", arch, v1.Time{Time: r.time}
	c.History = []v1.History{{Created: v1.Time{Time: r.time}, CreatedBy: "scripts/release.sh"}}
	c.Config = v1.Config{User: fmt.Sprintf("%d:%d", user, user), Entrypoint: []string{"/shuffled"},
		Cmd:     []string{"serve", "--config", "/etc/shuffled/shuffled.toml"},
		Volumes: map[string]struct{}{"/var/lib/shuffled": {}},
		Labels: map[string]string{"org.opencontainers.image.title": "shuffled", "org.opencontainers.image.version": r.version,
			"org.opencontainers.image.revision": r.commit, "org.opencontainers.image.licenses": licence}}
	return c
}

// roots returns the certificates of the authorities that Go's maintainers take from Mozilla's list.
// The program needs them for TLS to a database or a witness.
func roots() []byte {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})
	}
	return b.Bytes()
}

// tar writes a directory as a tar file. The files are in the order of their names.
func (r *release) tar(dir, to string) (err error) {
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() {
		if closed := out.Close(); err == nil {
			err = closed
		}
	}()
	w := tar.NewWriter(out)
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		h := tar.Header{Typeflag: tar.TypeReg, Name: filepath.ToSlash(name), Mode: 0o644, Size: int64(len(text)),
			ModTime: r.time}
		if err := w.WriteHeader(&h); err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	})
	if err != nil {
		return fmt.Errorf("packing the image: %w", err)
	}
	return w.Close()
}
