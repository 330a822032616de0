// Package compliance is the table from the requirements of standards and regulators to what shows them
// here: a test, a command, a section of a document. If nothing shows a requirement, the table says so: some
// are an organisation's duty, some are not shown by this software.
//
// docs/COMPLIANCE.md is written from the table. The tests of this package and of lab/cmd/shuffled-lab check
// that everything to which a row points exists. lab/compliance/run runs the evidence that the rows name.
package compliance

import "slices"

//go:generate go run ./run -markdown ../../docs/COMPLIANCE.md

// A Row is one requirement with its evidence or the reason why there is none.
type Row struct {
	// ID is the number of a clause of GLI-19 v3.0 chapter 3, or that of a related requirement.
	ID string
	// Title names it in a few words.
	Title string
	// Clauses say where it is, if that is not the ID.
	Clauses string
	// Requirement is the requirement in our words.
	Requirement string
	Evidence    []Evidence
	// NotShown is what nothing here shows, and Duty what an organisation has to do
	// itself. A row without evidence has one of them.
	NotShown, Duty string
}

// Evidence is one thing that shows a requirement: one of tests, command, document.
type Evidence struct {
	// Package is a directory of the module, Tests are names of tests in it.
	Package string
	Tests   []string
	// Args are a command line of shuffled, which ends with the exit code 0.
	Args []string
	// Document is a file of the repository, and Section the text of a heading in it.
	Document, Section string
	// Shows says what it shows.
	Shows string
	// Long marks evidence that takes a minute or more, or needs something that not every machine has.
	Long bool
}

// A Group is the rows under one heading.
type Group struct {
	Title, About string
	Rows         []Row
}

// Groups returns the whole table.
func Groups() []Group {
	return []Group{
		{
			"GLI-19 v3.0, chapter 3",
			"The requirements of the standard for interactive gaming systems on random number generators, by clause. The words are ours; the standard's are to be read there.",
			chapter3,
		},
		{
			"Related requirements",
			"Other chapters of GLI-19, and what regulators ask for alongside it. A source in brackets was read only in excerpts or at second hand: look at the original before you rely on its clause.",
			slices.Concat(generator, statistics, health, records, operation),
		},
		{
			"What cannot be shown",
			"Known limits.",
			limits,
		},
	}
}

// tests are tests of one package.
func tests(pkg, shows string, names ...string) Evidence {
	return Evidence{Package: pkg, Tests: names, Shows: shows}
}

// command is a command line.
func command(shows string, args ...string) Evidence { return Evidence{Args: args, Shows: shows} }

// document is a section of a document.
func document(file, section, shows string) Evidence {
	return Evidence{Document: file, Section: section, Shows: shows}
}

// long marks evidence that a quick run leaves out.
func long(e Evidence) Evidence {
	e.Long = true
	return e
}
