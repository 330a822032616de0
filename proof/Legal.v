(** The life of a shuffle: rules of docs/SPEC.md section 9, over all sequences of entries that they allow.

    The model has the state that these rules use: tables with serials, shuffles with their size and next place, the
    dealt and shown places, and the end. A ledger is a list of entries; [fold] is None if an entry is refused. *)

Require Import Arith List Bool Lia.
Import ListNotations.

Inductive entry :=
  | Commit (table serial places : nat)       (* the shuffle's id is the entry's index *)
  | Deal (id first count : nat)
  | Reveal (id : nat) (shown : list nat)
  | Close (id : nat).

Record shuffle := { at_table : nat; serial : nat; size : nat; next : nat; public : list nat; closed : bool }.

(** The shuffles by id: index and shuffle. *)
Definition state := list (nat * shuffle).

Fixpoint find (s : state) (id : nat) : option shuffle :=
  match s with
  | [] => None
  | (i, x) :: s => if id =? i then Some x else find s id
  end.

(** The newest serial of a table: 0 if there is none. *)
Fixpoint last (s : state) (table : nat) : nat :=
  match s with
  | [] => 0
  | (_, x) :: s => if at_table x =? table then max (serial x) (last s table) else last s table
  end.

Definition change (s : state) (id : nat) (x : shuffle) : state :=
  map (fun p => if fst p =? id then (id, x) else p) s.

Fixpoint memb (x : nat) (l : list nat) : bool :=
  match l with [] => false | y :: l => (x =? y) || memb x l end.

Fixpoint distinct (l : list nat) : bool :=
  match l with [] => true | x :: l => negb (memb x l) && distinct l end.

Definition step (index : nat) (s : state) (e : entry) : option state :=
  match e with
  | Commit t n m => if n =? S (last s t) then
      Some ((index, {| at_table := t; serial := n; size := m; next := 0; public := []; closed := false |}) :: s)
      else None
  | Deal id first count => match find s id with
      | Some x => if negb (closed x) && (first =? next x) && (1 <=? count) && (first + count <=? size x) then
          Some (change s id {| at_table := at_table x; serial := serial x; size := size x; next := first + count;
                               public := public x; closed := false |})
          else None
      | None => None
      end
  | Reveal id shown => match find s id with
      | Some x => if negb (closed x) && forallb (fun p => p <? next x) shown && distinct shown
                     && forallb (fun p => negb (memb p (public x))) shown then
          Some (change s id {| at_table := at_table x; serial := serial x; size := size x; next := next x;
                               public := shown ++ public x; closed := false |})
          else None
      | None => None
      end
  | Close id => match find s id with
      | Some x => if negb (closed x) then
          Some (change s id {| at_table := at_table x; serial := serial x; size := size x; next := next x;
                               public := public x; closed := true |})
          else None
      | None => None
      end
  end.

Fixpoint fold (index : nat) (s : state) (es : list entry) : option state :=
  match es with
  | [] => Some s
  | e :: es => match step index s e with Some s => fold (S index) s es | None => None end
  end.

(** ** What holds of every sequence that is allowed *)

Lemma find_change : forall s id x i,
  find (change s id x) i = if i =? id then (match find s id with Some _ => Some x | None => None end) else find s i.
Proof.
  induction s as [|(j, y) s IH]; intros id x i; [simpl; destruct (i =? id); reflexivity|].
  specialize (IH id x i). unfold change in *. cbn [map fst].
  destruct (Nat.eqb_spec j id) as [->|J]; cbn [find].
  - rewrite Nat.eqb_refl. destruct (Nat.eqb_spec i id); [reflexivity|assumption].
  - destruct (Nat.eqb_spec id j); [congruence|].
    destruct (Nat.eqb_spec i j) as [->|]; [|assumption]. destruct (Nat.eqb_spec j id); [congruence|reflexivity].
Qed.

(** What an entry does to one shuffle: it makes it, moves it on, or leaves it alone. *)
Lemma step_find : forall index s e s' id x', step index s e = Some s' -> find s' id = Some x' ->
  (exists t n m, e = Commit t n m /\ id = index /\ next x' = 0 /\ public x' = [] /\ closed x' = false) \/
  (exists x, find s id = Some x /\ at_table x' = at_table x /\ serial x' = serial x /\ size x' = size x /\
     (x' = x \/ closed x = false)).
Proof.
  intros index s e s' id x' H F. destruct e as [t n m|i first count|i shown|i]; cbn [step] in H.
  - destruct (Nat.eqb_spec n (S (last s t))) as [_|]; [|discriminate]. injection H as <-. simpl in F.
    destruct (Nat.eqb_spec id index) as [->|I].
    + injection F as <-. left. exists t, n, m. auto.
    + right. exists x'. auto 10.
  - destruct (find s i) as [x|] eqn:E; [|discriminate].
    destruct (negb (closed x) && (first =? next x) && (1 <=? count) && (first + count <=? size x)) eqn:C;
      [|discriminate]. injection H as <-. rewrite find_change, E in F. right.
    rewrite !andb_true_iff, negb_true_iff in C. destruct C as (((C & _) & _) & _).
    destruct (Nat.eqb_spec id i) as [->|I]; [injection F as <-; exists x|exists x']; auto 10.
  - destruct (find s i) as [x|] eqn:E; [|discriminate].
    match type of H with (if ?b then _ else _) = _ => destruct b eqn:C end; [|discriminate].
    injection H as <-. rewrite find_change, E in F. right.
    rewrite !andb_true_iff, negb_true_iff in C. destruct C as (((C & _) & _) & _).
    destruct (Nat.eqb_spec id i) as [->|I]; [injection F as <-; exists x|exists x']; auto 10.
  - destruct (find s i) as [x|] eqn:E; [|discriminate].
    destruct (negb (closed x)) eqn:C; [|discriminate]. rewrite negb_true_iff in C.
    injection H as <-. rewrite find_change, E in F. right.
    destruct (Nat.eqb_spec id i) as [->|I]; [injection F as <-; exists x|exists x']; auto 10.
Qed.

(** No shuffle vanishes. *)
Lemma step_keeps : forall index s e s' id x, step index s e = Some s' -> id <> index -> find s id = Some x ->
  exists x', find s' id = Some x' /\ next x <= next x' /\ (closed x = true -> x' = x) /\ incl (public x) (public x').
Proof.
  intros index s e s' id x H I F. destruct e as [t n m|i first count|i shown|i]; cbn [step] in H.
  - destruct (Nat.eqb_spec n (S (last s t))) as [_|]; [|discriminate]. injection H as <-. exists x. simpl.
    destruct (Nat.eqb_spec id index); [contradiction|]. auto using incl_refl.
  - destruct (find s i) as [y|] eqn:E; [|discriminate].
    destruct (negb (closed y) && (first =? next y) && (1 <=? count) && (first + count <=? size y)) eqn:C;
      [|discriminate]. injection H as <-.
    rewrite !andb_true_iff, negb_true_iff in C. destruct C as (((C & D) & _) & _). apply Nat.eqb_eq in D.
    rewrite find_change, E. destruct (Nat.eqb_spec id i) as [->|J].
    + rewrite E in F. injection F as ->. eexists. split; [reflexivity|]. simpl. repeat split.
      * lia. * congruence. * apply incl_refl.
    + exists x. auto using incl_refl.
  - destruct (find s i) as [y|] eqn:E; [|discriminate].
    match type of H with (if ?b then _ else _) = _ => destruct b eqn:C end; [|discriminate]. injection H as <-.
    rewrite !andb_true_iff, negb_true_iff in C. destruct C as (((C & _) & _) & _).
    rewrite find_change, E. destruct (Nat.eqb_spec id i) as [->|J].
    + rewrite E in F. injection F as ->. eexists. split; [reflexivity|]. simpl. repeat split.
      * lia. * congruence. * apply incl_appr, incl_refl.
    + exists x. auto using incl_refl.
  - destruct (find s i) as [y|] eqn:E; [|discriminate].
    destruct (negb (closed y)) eqn:C; [|discriminate]. rewrite negb_true_iff in C. injection H as <-.
    rewrite find_change, E. destruct (Nat.eqb_spec id i) as [->|J].
    + rewrite E in F. injection F as ->. eexists. split; [reflexivity|]. simpl. repeat split.
      * lia. * congruence. * apply incl_refl.
    + exists x. auto using incl_refl.
Qed.

(** All ids are below the next index, so that no entry makes a shuffle twice. *)
Definition below (index : nat) (s : state) : Prop := forall id x, find s id = Some x -> id < index.

Lemma step_below : forall index s e s', below index s -> step index s e = Some s' -> below (S index) s'.
Proof.
  intros index s e s' W H id x F. destruct (step_find _ _ _ _ _ _ H F) as [(t & n & m & _ & -> & _)|(y & G & _)].
  - lia.
  - apply W in G. lia.
Qed.

(** A closed shuffle never changes: it has one close, and no deal or reveal after it. *)
Theorem closed_for_ever : forall es index s s' id x, below index s -> fold index s es = Some s' ->
  find s id = Some x -> closed x = true -> find s' id = Some x.
Proof.
  induction es as [|e es IH]; intros index s s' id x W H F C; cbn [fold] in H.
  - injection H as <-. assumption.
  - destruct (step index s e) as [t|] eqn:E; [|discriminate].
    assert (I : id <> index) by (intros ->; apply W in F; lia).
    destruct (step_keeps _ _ _ _ _ _ E I F) as (x' & F' & _ & K & _). rewrite (K C) in F'.
    apply (IH (S index) t s'); auto. apply (step_below index s e); assumption.
Qed.

Theorem no_entry_after_close : forall index s id x, find s id = Some x -> closed x = true ->
  step index s (Close id) = None /\ (forall first count, step index s (Deal id first count) = None) /\
  (forall shown, step index s (Reveal id shown) = None).
Proof.
  intros index s id x F C. simpl. rewrite F, C. auto.
Qed.

(** The next place never goes back, so that no place is dealt twice: a deal begins where all earlier ones ended. *)
Lemma next_grows : forall es index s s' id x, below index s -> fold index s es = Some s' -> find s id = Some x ->
  exists x', find s' id = Some x' /\ next x <= next x'.
Proof.
  induction es as [|e es IH]; intros index s s' id x W H F; cbn [fold] in H.
  - injection H as <-. exists x. auto.
  - destruct (step index s e) as [t|] eqn:E; [|discriminate].
    assert (I : id <> index) by (intros ->; apply W in F; lia).
    destruct (step_keeps _ _ _ _ _ _ E I F) as (x' & F' & L & _).
    destruct (IH (S index) t s' id x') as (z & G & L2); auto; [apply (step_below index s e); assumption|].
    exists z. split; auto. lia.
Qed.

Theorem place_dealt_once : forall es index s s1 s2 id first count first' count' index',
  below index s ->
  step index s (Deal id first count) = Some s1 -> fold (S index) s1 es = Some s2 ->
  step index' s2 (Deal id first' count') <> None -> first + count <= first'.
Proof.
  intros es index s s1 s2 id first count first' count' index' W H1 H2 H3.
  assert (W1 : below (S index) s1) by (apply (step_below index s _ _ W H1)).
  cbn [step] in H1. destruct (find s id) as [x|] eqn:E; [|discriminate].
  destruct (negb (closed x) && (first =? next x) && (1 <=? count) && (first + count <=? size x)); [|discriminate].
  injection H1 as <-. set (y := {| at_table := at_table x; serial := serial x; size := size x; next := first + count;
                               public := public x; closed := false |}) in *.
  assert (F : find (change s id y) id = Some y) by (rewrite find_change, E, Nat.eqb_refl; reflexivity).
  destruct (next_grows es _ _ _ id y W1 H2 F) as (z & G & L).
  cbn [step] in H3. rewrite G in H3.
  destruct (negb (closed z) && (first' =? next z) && (1 <=? count') && (first' + count' <=? size z)) eqn:C;
    [|congruence]. rewrite !andb_true_iff in C. destruct C as (((_ & C) & _) & _). apply Nat.eqb_eq in C.
  simpl in L. lia.
Qed.

(** What holds of every shuffle: at most its places are dealt, and only dealt places are public, each once. *)
Definition sound (x : shuffle) : Prop :=
  next x <= size x /\ NoDup (public x) /\ forall p, In p (public x) -> p < next x.

Lemma memb_in : forall x l, memb x l = true <-> In x l.
Proof.
  induction l as [|y l IH]; simpl; [split; [discriminate|tauto]|].
  rewrite orb_true_iff, Nat.eqb_eq, IH. split; intros [H|H]; auto.
Qed.

Lemma distinct_nodup : forall l, distinct l = true -> NoDup l.
Proof.
  induction l as [|x l IH]; simpl; intros H; constructor; apply andb_true_iff in H; destruct H as [H1 H2]; auto.
  intros K. apply memb_in in K. rewrite K in H1. discriminate.
Qed.

Lemma nodup_app : forall (a b : list nat), NoDup a -> NoDup b -> (forall x, In x a -> ~ In x b) -> NoDup (a ++ b).
Proof.
  induction a as [|x a IH]; simpl; intros b Ha Hb D; auto. inversion Ha; subst. constructor.
  - rewrite in_app_iff. intros [K|K]; [contradiction|]. apply (D x); auto.
  - apply IH; auto.
Qed.

Lemma shown_was_dealt : forall index s e s', (forall id x, find s id = Some x -> sound x) ->
  step index s e = Some s' -> forall id x, find s' id = Some x -> sound x.
Proof.
  intros index s e s' W H id x F. destruct e as [t n m|i first count|i shown|i]; cbn [step] in H.
  - destruct (Nat.eqb_spec n (S (last s t))) as [_|]; [|discriminate]. injection H as <-. simpl in F.
    destruct (id =? index); [|eauto]. injection F as <-. repeat split; simpl; [lia|constructor|tauto].
  - destruct (find s i) as [y|] eqn:E; [|discriminate].
    destruct (negb (closed y) && (first =? next y) && (1 <=? count) && (first + count <=? size y)) eqn:C;
      [|discriminate]. injection H as <-. rewrite find_change, E in F.
    destruct (id =? i); [|eauto]. injection F as <-. rewrite !andb_true_iff in C.
    destruct C as (((_ & C) & _) & D). apply Nat.eqb_eq in C. apply Nat.leb_le in D.
    destruct (W i y E) as (A & N & I). repeat split; simpl; auto. intros p Hp. apply I in Hp. lia.
  - destruct (find s i) as [y|] eqn:E; [|discriminate].
    match type of H with (if ?b then _ else _) = _ => destruct b eqn:C end; [|discriminate].
    injection H as <-. rewrite find_change, E in F. destruct (id =? i); [|eauto]. injection F as <-.
    rewrite !andb_true_iff in C. destruct C as (((_ & C) & D) & G).
    rewrite forallb_forall in C, G. destruct (W i y E) as (A & N & I). repeat split; simpl; auto.
    + apply nodup_app; auto; [apply distinct_nodup; assumption|].
      intros p Hp Hq. apply G in Hp. apply memb_in in Hq. rewrite Hq in Hp. discriminate.
    + intros p Hp. apply in_app_iff in Hp. destruct Hp as [Hp|Hp]; [|auto].
      apply C in Hp. apply Nat.ltb_lt in Hp. assumption.
  - destruct (find s i) as [y|] eqn:E; [|discriminate].
    destruct (negb (closed y)); [|discriminate]. injection H as <-. rewrite find_change, E in F.
    destruct (id =? i); [|eauto]. injection F as <-. destruct (W i y E) as (A & N & I).
    repeat split; simpl; auto.
Qed.

Theorem sound_for_ever : forall es s, fold 0 [] es = Some s -> forall id x, find s id = Some x -> sound x.
Proof.
  assert (K : forall es index s s', (forall id x, find s id = Some x -> sound x) -> fold index s es = Some s' ->
    forall id x, find s' id = Some x -> sound x).
  { induction es as [|e es IH]; intros index s s' W H; cbn [fold] in H; [injection H as <-; assumption|].
    destruct (step index s e) as [t|] eqn:E; [|discriminate].
    apply (IH (S index) t s'); auto. apply (shown_was_dealt index s e); assumption. }
  intros es s H. apply (K es 0 [] s); auto. discriminate.
Qed.

(** Serials of a table have no gap: a commit has the one after the newest, and every one below it was committed. *)
Lemma last_change : forall s id x t, (forall y, find s id = Some y -> True) ->
  (forall p, In p s -> fst p = id -> at_table (snd p) = at_table x /\ serial (snd p) = serial x) ->
  last (change s id x) t = last s t.
Proof.
  induction s as [|(j, y) s IH]; intros id x t _ W; simpl; [reflexivity|].
  rewrite <- (IH id x t) by (auto; intros; apply W; auto; right; assumption).
  destruct (Nat.eqb_spec j id) as [J|J]; [|reflexivity].
  destruct (W (j, y)) as (A & S); [left; reflexivity|assumption|]. simpl in A, S. rewrite A, S. reflexivity.
Qed.

Lemma next_serial : forall index s t n m s', step index s (Commit t n m) = Some s' ->
  n = S (last s t) /\ last s' t = n.
Proof.
  intros index s t n m s' H. cbn [step] in H. destruct (Nat.eqb_spec n (S (last s t))) as [E|]; [|discriminate].
  injection H as <-. split; auto. simpl. rewrite Nat.eqb_refl. lia.
Qed.

(** The serials of a table that a ledger's commits have, newest first. *)
Fixpoint serials (t : nat) (es : list entry) : list nat :=
  match es with
  | [] => []
  | Commit u n _ :: es => if u =? t then n :: serials t es else serials t es
  | _ :: es => serials t es
  end.

(** Each id occurs once. *)
Definition once (s : state) : Prop := NoDup (map fst s).

Lemma change_ids : forall s id x, map fst (change s id x) = map fst s.
Proof.
  induction s as [|(j, y) s IH]; intros; simpl; [reflexivity|]. rewrite IH.
  destruct (Nat.eqb_spec j id); simpl; congruence.
Qed.

Lemma once_find : forall s p, once s -> In p s -> find s (fst p) = Some (snd p).
Proof.
  induction s as [|(j, y) s IH]; intros p N H; [destruct H|]. inversion N as [|k l K L]; subst. simpl.
  destruct H as [<-|H]; simpl; [rewrite Nat.eqb_refl; reflexivity|].
  destruct (Nat.eqb_spec (fst p) j) as [E|E]; [|apply IH; assumption].
  exfalso. apply K. rewrite <- E. apply in_map. assumption.
Qed.

Lemma find_in : forall s id x, find s id = Some x -> In (id, x) s.
Proof.
  induction s as [|(j, y) s IH]; simpl; intros id x H; [discriminate|].
  destruct (Nat.eqb_spec id j) as [->|E]; [injection H as ->; auto|auto].
Qed.

Lemma in_find : forall s id, In id (map fst s) -> exists x, find s id = Some x.
Proof.
  induction s as [|(j, y) s IH]; simpl; intros id H; [destruct H|].
  destruct (Nat.eqb_spec id j); [eauto|]. destruct H as [H|H]; [congruence|auto].
Qed.

Lemma step_once : forall index s e s', below index s -> once s -> step index s e = Some s' -> once s'.
Proof.
  intros index s e s' W N H. unfold once in *. destruct e as [t n m|i first count|i shown|i]; cbn [step] in H.
  - destruct (Nat.eqb_spec n (S (last s t))) as [_|]; [|discriminate]. injection H as <-. simpl. constructor; auto.
    intros K. destruct (in_find s index K) as (x & F). apply W in F. lia.
  - destruct (find s i); [|discriminate]. match type of H with (if ?b then _ else _) = _ => destruct b end;
      [|discriminate]. injection H as <-. rewrite change_ids. assumption.
  - destruct (find s i); [|discriminate]. match type of H with (if ?b then _ else _) = _ => destruct b end;
      [|discriminate]. injection H as <-. rewrite change_ids. assumption.
  - destruct (find s i); [|discriminate]. match type of H with (if ?b then _ else _) = _ => destruct b end;
      [|discriminate]. injection H as <-. rewrite change_ids. assumption.
Qed.

Lemma step_last : forall index s e s' t, once s -> step index s e = Some s' ->
  last s' t = match e with Commit u n _ => if u =? t then n else last s t | _ => last s t end.
Proof.
  intros index s e s' t N H.
  assert (K : forall i x y, find s i = Some x -> at_table y = at_table x -> serial y = serial x ->
    last (change s i y) t = last s t).
  { intros i x y F A S. apply last_change; auto. intros p Hp E.
    pose proof (once_find s p N Hp) as G. rewrite E, F in G. injection G as <-. auto. }
  destruct e as [u n m|i first count|i shown|i]; cbn [step] in H.
  - destruct (Nat.eqb_spec n (S (last s u))) as [E|]; [|discriminate]. injection H as <-. simpl.
    destruct (Nat.eqb_spec u t) as [->|]; [|reflexivity]. lia.
  - destruct (find s i) as [x|] eqn:E; [|discriminate].
    match type of H with (if ?b then _ else _) = _ => destruct b end; [|discriminate]. injection H as <-.
    apply (K i x); auto.
  - destruct (find s i) as [x|] eqn:E; [|discriminate].
    match type of H with (if ?b then _ else _) = _ => destruct b end; [|discriminate]. injection H as <-.
    apply (K i x); auto.
  - destruct (find s i) as [x|] eqn:E; [|discriminate].
    match type of H with (if ?b then _ else _) = _ => destruct b end; [|discriminate]. injection H as <-.
    apply (K i x); auto.
Qed.

(** The serials of each table are 1, 2, 3 … *)
Theorem no_serial_gap : forall es s t, fold 0 [] es = Some s -> serials t es = seq 1 (length (serials t es)).
Proof.
  assert (K : forall es index s s' t, below index s -> once s -> fold index s es = Some s' ->
    serials t es = seq (S (last s t)) (length (serials t es))).
  { induction es as [|e es IH]; intros index s s' t W N H; [reflexivity|]. cbn [fold] in H.
    destruct (step index s e) as [s1|] eqn:E; [|discriminate].
    assert (W1 := step_below _ _ _ _ W E). assert (N1 := step_once _ _ _ _ W N E).
    specialize (IH (S index) s1 s' t W1 N1 H). rewrite (step_last index s e s1 t N E) in IH.
    destruct e as [u n m|i first count|i shown|i]; simpl; auto.
    destruct (Nat.eqb_spec u t) as [->|]; auto. simpl.
    destruct (next_serial index s t n m s1 E) as (-> & _). f_equal. assumption. }
  intros es s t H. apply (K es 0 [] s t); auto.
  - intros id x F. discriminate.
  - constructor.
Qed.
