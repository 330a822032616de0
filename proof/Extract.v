(** Extracts the program that is tested with the vectors to OCaml: Tape.v, a cut and a shift of Mix.v, and a step of
    Legal.v. Numbers become machine integers of 63 bits, which hold every lane and every product that occurs: a lane is
    below 2^32. *)

Require Import Lanes Sparse Mix Tape.
Require Legal PeanoNat Extraction.
Require Import ExtrOcamlBasic ExtrOcamlNatInt.

Extraction Language OCaml.
Extract Inlined Constant Init.Nat.add => "(+)".
Extract Inlined Constant PeanoNat.Nat.add => "(+)".
Extract Inlined Constant Init.Nat.mul => "( * )".
Extract Inlined Constant PeanoNat.Nat.mul => "( * )".
Extract Inlined Constant Init.Nat.sub => "(fun n m -> Stdlib.max 0 (n - m))".
Extract Inlined Constant PeanoNat.Nat.sub => "(fun n m -> Stdlib.max 0 (n - m))".
Extract Inlined Constant Init.Nat.div => "(fun n m -> if m = 0 then 0 else n / m)".
Extract Inlined Constant PeanoNat.Nat.div => "(fun n m -> if m = 0 then 0 else n / m)".
Extract Inlined Constant Init.Nat.modulo => "(fun n m -> if m = 0 then n else n mod m)".
Extract Inlined Constant PeanoNat.Nat.modulo => "(fun n m -> if m = 0 then n else n mod m)".
Set Warnings "-extraction-default-directory".
Extraction "recipe.ml" cards draws numbers tape_length cut shift.
Extraction "legal.ml" Legal.step.
