(* Runs the program that Extract.v takes out of the proof: for each line of input one line of output.

   length K,K,…      the length of the tape for draws of these ranges
   draws  K,K,… HEX  the draws from the tape
   cards  N M HEX    M of the cards 0 … N−1
   numbers D,D,…     the numbers from 1 on that these draws take
   cut    C P,P,…    the permutation after a cut
   shift  K V U      a drawn value after the value U of another party
   rules  E;E;…      yes or no for each entry: commit,TABLE,SERIAL,PLACES deal,ID,FIRST,COUNT reveal,ID,PLACE,…
                     close,ID, where the id of a shuffle is how many entries were accepted before its commit

   A line of output has numbers with spaces between them, or "none" if the tape runs out. *)

let ints text = List.map int_of_string (String.split_on_char ',' text)

let bytes hex = List.init (String.length hex / 2) (fun i -> int_of_string ("0x" ^ String.sub hex (2 * i) 2))

let show values = String.concat " " (List.map string_of_int values)

let taken = function Some (values, _) -> show values | None -> "none"

let entry text =
  match String.split_on_char ',' text with
  | "reveal" :: id :: places -> Legal.Reveal (int_of_string id, List.map int_of_string places)
  | name :: fields -> (
      match (name, List.map int_of_string fields) with
      | "commit", [ table; serial; places ] -> Legal.Commit (table, serial, places)
      | "deal", [ id; first; count ] -> Legal.Deal (id, first, count)
      | "close", [ id ] -> Legal.Close id
      | _ -> failwith ("no such entry: " ^ text))
  | [] -> failwith "no entry"

let judge (index, state, verdicts) text =
  match Legal.step index state (entry text) with
  | Some state -> (index + 1, state, "yes" :: verdicts)
  | None -> (index, state, "no" :: verdicts)

let rules texts =
  let _, _, verdicts = List.fold_left judge (0, [], []) texts in
  String.concat " " (List.rev verdicts)

let answer line =
  match String.split_on_char ' ' line with
  | [ "length"; ks ] -> string_of_int (Recipe.tape_length (ints ks))
  | [ "draws"; ks; hex ] -> taken (Recipe.draws (ints ks) (bytes hex))
  | [ "cards"; n; m; hex ] -> taken (Recipe.cards (int_of_string n) (int_of_string m) (bytes hex))
  | [ "numbers"; ds ] -> show (Recipe.numbers (ints ds))
  | [ "cut"; c; ps ] -> show (Recipe.cut (ints ps) (int_of_string c))
  | [ "shift"; k; v; u ] -> string_of_int (Recipe.shift (int_of_string k) (int_of_string v) (int_of_string u))
  | [ "rules"; entries ] -> rules (String.split_on_char ';' entries)
  | _ -> failwith ("no such command: " ^ line)

let () = try while true do print_endline (answer (read_line ())) done with End_of_file -> ()
