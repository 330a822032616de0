package compliance

import (
	"fmt"
	"strings"
)

// A Profile is what one regulator asks, clause by clause, and the rows that show it.
type Profile struct {
	Regulator string
	Source    string // the text that was read, and when; or the text to read
	Read      bool   // first-hand
	Clauses   []Clause
}

// A Clause is one requirement of a profile.
type Clause struct {
	ID   string
	Asks string   // in our words
	Rows []string // of the groups, with their evidence and commands; without any there is a gap
	Gap  string   // what nothing here shows
}

// notOurs is the gap of requirements that only the game around the generator can show.
const notOurs = "The game and its display, which are not part of this program."

// Profiles returns all of them, those that were read first.
func Profiles() []Profile {
	return []Profile{
		{"Ontario: AGCO, Registrar's Standards for Internet Gaming 4.26 and 4.27",
			"agco.ca, the page Randomness of game outcomes; its text read on 2026-11-23", true, []Clause{
				{"4.26", "A mechanism selects game elements at random.", []string{"3.2.2", "3.2.3", "3.2.4"}, ""},
				{"4.26(1)", "Seeds and initial conditions keep outcomes random and uncorrelated with other instances.",
					[]string{"9", "10"}, "New entropy in a virtual machine that was cloned while it ran: row 9."},
				{"4.26(2)", "Stake and style of play do not influence what is selected.", []string{"23"}, notOurs},
				{"4.26(3)", "No outside influence; components do not wear in a way that matters.", []string{"6", "17", "18",
					"23"}, "Electro-magnetic influence on the machine. There is no mechanical part."},
				{"4.26(4)", "Nothing selected is altered, dropped or redrawn by a second decision, nor changed by load.",
					[]string{"5", "3.2.4"}, "Tapes that a changed program drew before its first commit: only level mixed excludes them."},
				{"4.26(5)", "A failure of the mechanism is noticed and handled quickly.", []string{"6", "7"}, ""},
				{"4.27", "The mechanism and the randomness of outcomes can be monitored and inspected.", []string{"32", "26"},
					""},
			}},
		{"Ontario: AGCO, guide 5, software random number generator (2023-08-31)",
			"agco.ca/5-random-number-generator; 5.1.1 to 5.1.9 read on 2026-11-23", true, []Clause{
				{"5.1.1", "Independent, equally likely, unpredictable; recognised tests are passed.", []string{"3.2.2", "3.2.3",
					"3.2.4", "3.3.1"}, ""},
				{"5.1.2", "The range fits the game; game-specific tests lie within 99 %.", []string{"1", "11"},
					"Mappings and weights of a game that are not in the ledger's terms."},
				{"5.1.3", "No pattern, and no correlation with any earlier output.", []string{"11", "3.2.4"},
					"The battery looks at the eight games before each, and finds no smaller dependence than it states."},
				{"5.1.4", "Seeds cannot be determined.", []string{"9"}, ""},
				{"5.1.5", "A corrupted seed is made anew.", []string{"6", "10"},
					"There is no seed of ours. A latched generator is cleared by a person, after the start-up tests."},
				{"5.1.6", "An interrupted selection is kept until recovery.", []string{"7"}, ""},
				{"5.1.7", "A failed mechanism makes the function unavailable.", []string{"6"}, ""},
				{"5.1.8", "Secure protocols protect generator and selection.", []string{"39"}, ""},
				{"5.1.9", "Pools of selections are stored securely.", []string{"8"}, ""},
			}},
		{"New Jersey: N.J.A.C. 13:69E-1.28G",
			"the text at law.cornell.edu, read whole on 2026-11-23; a copy, the official one is to be compared", true, []Clause{
				{"(b)1", "Large enough for all outcomes.", []string{"3", "3.2.5"},
					"Of a shoe, by computation and not by counting: row 3.2.5."},
				{"(b)2", "Available when each game begins.", []string{"6"}, "Availability is the operator's."},
				{"(b)3", "Independent, random, passing tests such as chi-square, mono-bit, runs.", []string{"11", "16"}, ""},
				{"(b)4", "Cycles in the background between games.", []string{"10"},
					"No counter of ours runs. Whether the reseeding of the kernel's generator is background cycling is the Division's to say."},
				{"(b)5", "The seed comes from an uncontrolled event; no two starts are alike.", []string{"9"}, ""},
				{"(b)6", "Scaling to a shorter range keeps values equally likely.", []string{"1"}, ""},
				{"(c)1–3", "Only the outcome drawn is displayed, with no second selection, and not misleadingly.",
					[]string{"5"}, notOurs},
			}},
		{"Great Britain: UKGC, RTS 7A and casino equipment requirements 2.1",
			"gamblingcommission.gov.uk: requirement 7A and the beginning of its guidance, and 2.1 to the beginning of 2.3, read on 2026-11-23; the rest of the guidance and RTS 7B to 7E were not read first-hand", true, []Clause{
				{"RTS 7A", "Random to a high degree of confidence, by accepted tests; no adaptive behaviour.",
					[]string{"3.2.2", "11", "23"}, ""},
				{"RTS 7A, lotteries on outside events", "Such an event is unpredictable and can be verified from outside.",
					[]string{"26"}, "Which event is taken. A beacon that a commit plans is verified; other events are not known here."},
				{"2.1(a)", "Uniform over the whole range.", []string{"3.2.3", "1"}, ""},
				{"2.1(b)", "Unpredictable with full knowledge of the algorithm and of all earlier numbers.", []string{"3.3.1",
					"4"}, "Strength of the platform's generator: its literature."},
				{"2.1(c)", "No stream repeats, and no two instances run alike.", []string{"9", "11"}, ""},
				{"2.1(d)", "Seeding and reseeding add no predictability.", []string{"9", "10"}, ""},
				{"2.1(e)", "Scaling keeps all that.", []string{"1"}, ""},
			}},
		{"Great Britain: UKGC, RTS 17A (live dealer studios)",
			"gamblingcommission.gov.uk, aim, requirement and guidance of RTS 17, read whole on 2026-11-23", true, []Clause{
				{"17A", "Live dealing is fair, and others can audit it.", []string{"26", "27"},
					"Cards, shoes and wheels in a studio: only draws that this program made can be audited by it."},
				{"17A, guidance on game logs", "Games are logged, and the logs are made into statistics by game, staff and place.",
					[]string{"27", "32", "36"}, "Statistics by dealer or studio: the ledger names tables and the services that ask for draws."},
				{"17A, guidance on equipment, training, supervision and access", "Equipment of casino quality that somebody watches; trained dealers; supervisors and video; locked areas.",
					nil, "All of it is of the studio, and nothing here shows it."},
			}},
		{"Pennsylvania: 58 Pa. Code 810a.5, 811a.7(a), (b), (d) and 461a.4(a)",
			"pacodeandbulletin.gov as of 2024-08-31: 810a.5(a) to (c) and the first two sentences of (d), and 461a.4(a); 811a.7 in a copy at regulations.justia.com; all on 2026-11-23. The rest of 810a.5(d), and 461a.7, to which 810a.5(b) refers, were not read first-hand", true, []Clause{
				{"810a.5(a)", "Cryptographically strong when submitted; each generator, and each implementation of one, is evaluated by itself.",
					[]string{"3.3.1", "4", "22"}, "Strength of the platform's generator: its literature."},
				{"810a.5(a)(1)", "Outcomes are statistically independent.", []string{"3.2.4"}, ""},
				{"810a.5(a)(2)", "Outcomes are fairly distributed over their range.", []string{"3.2.3", "2"}, ""},
				{"810a.5(a)(3), (c)", "Recognised tests are passed at 95 %; fifteen are named.", []string{"3.2.2", "11", "12"},
					"The battery has all fifteen, judged together at 99 %."},
				{"810a.5(d), first sentences", "Scaling keeps strength and distribution.", []string{"1", "3.2.3"}, ""},
				{"811a.7(a)", "Logs have a separate copy, kept by somebody with no conflicting duty, or lie in a secure transaction file.",
					[]string{"29"}, "Who keeps the copy."},
				{"811a.7(b)", "The Board can query and export all data, in a form that it asks for.", []string{"36"},
					"The Board's form. Data of player accounts, which are not in this program."},
				{"811a.7(d)", "What is needed to recreate play is kept for ten years.", []string{"28", "27"},
					"Account activity and locations of players, which are not in this program."},
				{"461a.4(a)", "A prototype identical in all respects was tested and approved.", []string{"41", "26"},
					"Approval is the Board's."},
			}},
		{"Malta: MGA technical rules", "mga.org.mt; of Directive 3 of 2018 the definitions were seen in a copy", false, nil},
		{"Brazil: Portarias SPA/MF 722 and 1.207 of 2024",
			"gov.br/fazenda; their first articles were seen in copies, their annexes not",
			false, nil},
		{"Curaçao: LOK and the authority's technical standards",
			"portal.gamingcontrolcuracao.org: of the licence conditions the definitions were seen. Others write that laboratories may test by the standards of New Jersey, Pennsylvania, Ontario, British Columbia, Great Britain or Malta",
			false, nil},
		{"Denmark: SCP.01.00 (from 2025; before, SCP.01.03)", "spillemyndigheden.dk; the list of documents was seen, none of them",
			false, nil},
	}
}

// profilesText is the part of the document that has them.
func profilesText() string {
	var b strings.Builder
	b.WriteString("\n## By regulator\n\nEach clause with the rows above that show it, and the gap where there is one.\n")
	var unread []Profile
	for _, p := range Profiles() {
		if !p.Read {
			unread = append(unread, p)
			continue
		}
		fmt.Fprintf(&b, "\n### %s\n\nRead: %s.\n\n| clause | asks | rows | gap |\n|---|---|---|---|\n", p.Regulator, p.Source)
		for _, c := range p.Clauses {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", c.ID, c.Asks, strings.Join(c.Rows, ", "), c.Gap)
		}
	}
	b.WriteString("\n### Not read first-hand\n\n| regulator | where it is |\n|---|---|\n")
	for _, p := range unread {
		fmt.Fprintf(&b, "| %s | %s |\n", p.Regulator, p.Source)
	}
	return b.String()
}
