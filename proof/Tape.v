(** The recipe on bytes: docs/SPEC.md sections 2.1 to 2.5. This file is extracted, and tested with the vectors.

    A byte is a number below 256. A lane of w bytes is read as a big-endian integer. *)

Require Import Arith List Bool Lia Lanes Orders Sparse.
Import ListNotations.

Definition width (k : nat) : nat :=
  if k <=? 1 then 0 else if k <=? 2 ^ 6 then 1 else if k <=? 2 ^ 14 then 2 else 4.

(** The number of lanes of w bytes. *)
Definition lanes_of (w : nat) : nat := 256 ^ w.

Definition integer (bytes : list nat) : nat := fold_left (fun x b => x * 256 + b) bytes 0.

(** The next w bytes, and the rest. *)
Definition take (w : nat) (tape : list nat) : option (list nat * list nat) :=
  if length (firstn w tape) =? w then Some (firstn w tape, skipn w tape) else None.

(** Lanes until one is accepted: at most as many as there are bytes. *)
Fixpoint read (fuel w k : nat) (tape : list nat) : option (nat * list nat) :=
  match fuel with
  | 0 => None
  | S fuel => match take w tape with
      | None => None
      | Some (lane, rest) =>
          if accepted (lanes_of w) k (integer lane) then Some (value k (integer lane), rest) else read fuel w k rest
      end
  end.

(** A draw 1..k: its value and what is left of the tape, or None if the tape runs out. *)
Definition draw (k : nat) (tape : list nat) : option (nat * list nat) :=
  match width k with
  | 0 => Some (1, tape)
  | w => read (length tape) w k tape
  end.

(** The draws of a list of ranges, and the rest of the tape. *)
Fixpoint draws (ks : list nat) (tape : list nat) : option (list nat * list nat) :=
  match ks with
  | [] => Some ([], tape)
  | k :: ks => match draw k tape with
      | None => None
      | Some (v, rest) => match draws ks rest with
          | None => None
          | Some (vs, rest) => Some (v :: vs, rest)
          end
      end
  end.

(** n, n−1 … : the ranges of m of n cards. *)
Fixpoint down (n m : nat) : list nat :=
  match m with
  | 0 => []
  | S m => n :: down (n - 1) m
  end.

(** m of n cards. *)
Definition cards (n m : nat) (tape : list nat) : option (list nat * list nat) :=
  match draws (down n m) tape with
  | None => None
  | Some (vs, rest) => Some (sparse [] 0 vs, rest)
  end.

(** The length of a tape for these ranges: section 2.3. *)
Definition tape_length (ks : list nat) : nat :=
  let s := fold_right (fun k n => width k + n) 0 ks in
  let w := fold_right (fun k n => max (width k) n) 0 ks in
  s + (s + 1) / 2 + 52 * max 1 w.

(** ** What the reading gives *)

Definition byte (b : nat) : Prop := b < 256.

Lemma integer_from : forall l x, fold_left (fun x b => x * 256 + b) l x = x * 256 ^ length l + integer l.
Proof.
  unfold integer. induction l as [|b l IH]; intros x; cbn [fold_left length].
  - rewrite Nat.pow_0_r. lia.
  - rewrite IH, (IH (0 * 256 + b)), Nat.pow_succ_r'. ring.
Qed.

Lemma integer_bound : forall l, Forall byte l -> integer l < lanes_of (length l).
Proof.
  unfold lanes_of. induction 1 as [|b l Hb Hl IH]; [cbn; lia|].
  unfold integer. cbn [fold_left length]. rewrite integer_from, Nat.pow_succ_r'. unfold byte in Hb.
  set (P := 256 ^ length l) in *. nia.
Qed.

(** Two lanes of one width are the same number only if they are the same bytes: each number is one lane. *)
Lemma integer_injective : forall a b, Forall byte a -> Forall byte b -> length a = length b ->
  integer a = integer b -> a = b.
Proof.
  induction a as [|x a IH]; intros [|y b] Ha Hb L E; simpl in L; try discriminate; auto.
  inversion Ha; inversion Hb; subst. injection L as L.
  unfold integer in E. cbn [fold_left] in E. rewrite !integer_from in E. rewrite L in E.
  assert (Ia := integer_bound a H2). assert (Ib := integer_bound b H6). unfold lanes_of in *. rewrite L in Ia.
  assert (x = y) by nia. subst y. f_equal. apply IH; auto. nia.
Qed.

Lemma take_app : forall w a b, length a = w -> take w (a ++ b) = Some (a, b).
Proof.
  intros w a b L. unfold take. subst w.
  rewrite firstn_app, Nat.sub_diag, firstn_all, app_nil_r, Nat.eqb_refl.
  rewrite skipn_app, skipn_all, Nat.sub_diag. reflexivity.
Qed.

(** Rejected lanes are skipped, and the first accepted one gives the value. *)
Lemma read_spec : forall w k rejected lane rest fuel, 1 <= w ->
  Forall (fun l => length l = w /\ accepted (lanes_of w) k (integer l) = false) rejected ->
  length lane = w -> accepted (lanes_of w) k (integer lane) = true ->
  length rejected < fuel ->
  read fuel w k (concat rejected ++ lane ++ rest) = Some (value k (integer lane), rest).
Proof.
  intros w k rejected lane rest fuel Hw R L A. revert fuel.
  induction R as [|l rejected (Ll & Al) R IH]; intros [|fuel] F; simpl in F; try lia.
  - simpl. rewrite take_app by assumption. rewrite A. reflexivity.
  - cbn [read concat]. rewrite <- app_assoc, take_app by assumption. rewrite Al. apply IH. lia.
Qed.

Theorem draw_spec : forall k rejected lane rest, 2 <= k ->
  Forall (fun l => length l = width k /\ accepted (lanes_of (width k)) k (integer l) = false) rejected ->
  length lane = width k -> accepted (lanes_of (width k)) k (integer lane) = true ->
  draw k (concat rejected ++ lane ++ rest) = Some (value k (integer lane), rest).
Proof.
  intros k rejected lane rest Hk R L A.
  assert (W : 1 <= width k).
  { unfold width. destruct (Nat.leb_spec k 1); [lia|]. destruct (k <=? 2 ^ 6); [lia|].
    destruct (k <=? 2 ^ 14); lia. }
  assert (D : draw k (concat rejected ++ lane ++ rest)
    = read (length (concat rejected ++ lane ++ rest)) (width k) k (concat rejected ++ lane ++ rest)).
  { unfold draw. destruct (width k) eqn:E; [lia|reflexivity]. }
  rewrite D. apply read_spec; auto. rewrite !app_length, L.
  assert (length rejected <= length (concat rejected)); [|lia].
  clear - R W. induction R as [|l rejected (Ll & _) R IH]; simpl; [lia|]. rewrite app_length. lia.
Qed.

(** Draws fit, so cards gives the shuffle of Orders.v, an order of m of n cards. *)
Lemma draw_in_range : forall k tape v rest, 1 <= k -> draw k tape = Some (v, rest) -> 1 <= v <= k.
Proof.
  intros k tape v rest Hk. unfold draw. destruct (width k) as [|w].
  - intros H. injection H as <- _. lia.
  - generalize (length tape) as fuel. intros fuel. revert tape.
    induction fuel as [|fuel IH]; intros tape H; [discriminate|]. cbn [read] in H.
    destruct (take (S w) tape) as [(lane, r)|]; [|discriminate].
    destruct (accepted (lanes_of (S w)) k (integer lane)).
    + injection H as <- _. apply draw_range. assumption.
    + apply (IH r). assumption.
Qed.

Lemma draws_fit : forall m n tape vs rest, m <= n -> draws (down n m) tape = Some (vs, rest) ->
  fit n vs /\ length vs = m.
Proof.
  induction m as [|m IH]; intros n tape vs rest Hm H; cbn [down draws] in H.
  - injection H as <- _. simpl. auto.
  - destruct (draw n tape) as [(v, r)|] eqn:D; [|discriminate].
    destruct (draws (down (n - 1) m) r) as [(us, r')|] eqn:E; [|discriminate]. injection H as <- _.
    destruct (IH (n - 1) r us r') as (F & L); auto; [lia|]. cbn [fit length]. rewrite L.
    assert (R : 1 <= v <= n) by (apply (draw_in_range n tape v r); auto; lia). auto.
Qed.

Theorem cards_order : forall n m tape t rest, m <= n -> cards n m tape = Some (t, rest) ->
  order n m t /\ exists vs, draws (down n m) tape = Some (vs, rest) /\ t = shuffle n vs.
Proof.
  intros n m tape t rest Hm H. unfold cards in H.
  destruct (draws (down n m) tape) as [(vs, r)|] eqn:D; [|discriminate]. injection H as <- ->.
  destruct (draws_fit m n tape vs rest Hm D) as (F & L).
  rewrite (sparse_dense n) by assumption. split.
  - rewrite <- L. apply fisher_yates_sound. assumption.
  - exists vs. auto.
Qed.
