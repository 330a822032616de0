(** Draws by rejection: docs/SPEC.md section 2.1.

    A lane is a number below B, which is 2^(8w) for w bytes. The theorems hold for every B and every k from 1 to B, and
    therefore for every lane width. *)

Require Import Arith List Bool Lia.
Import ListNotations.

(** ** The recipe *)

Definition limit (B k : nat) : nat := B / k * k.

(** A lane is accepted if it is below the limit. *)
Definition accepted (B k x : nat) : bool := x <? limit B k.

(** The value that an accepted lane gives. *)
Definition value (k x : nat) : nat := 1 + x mod k.

(** ** Counting *)

(** How many of the numbers below n have the property p. *)
Definition count (p : nat -> bool) (n : nat) : nat := length (filter p (seq 0 n)).

Lemma count_add : forall p a b, count p (a + b) = count p a + length (filter p (seq a b)).
Proof.
  intros. unfold count. rewrite seq_app, filter_app, app_length. reflexivity.
Qed.

Lemma count_split : forall p a n, a <= n -> count p n = count p a + length (filter p (seq a (n - a))).
Proof.
  intros p a n H. rewrite <- count_add. f_equal. lia.
Qed.

Lemma filter_ext_len : forall (p q : nat -> bool) l,
  (forall x, In x l -> p x = q x) -> length (filter p l) = length (filter q l).
Proof.
  induction l as [|x l IH]; simpl; intros H; auto.
  rewrite (H x) by auto. destruct (q x); simpl; rewrite IH; auto.
Qed.

Lemma filter_none : forall (p : nat -> bool) l, (forall x, In x l -> p x = false) -> length (filter p l) = 0.
Proof.
  induction l as [|x l IH]; simpl; intros H; auto. rewrite (H x) by auto. apply IH. auto.
Qed.

(** Of k numbers in a row that begin at a multiple of k, one has the remainder r. *)
Lemma one_in_a_row : forall k q r, r < k ->
  length (filter (fun x => x mod k =? r) (seq (q * k) k)) = 1.
Proof.
  intros k q r Hr.
  replace (seq (q * k) k) with (seq (q * k) r ++ (q * k + r) :: seq (q * k + S r) (k - S r)).
  - rewrite filter_app, app_length. simpl.
    assert (E : (q * k + r) mod k = r).
    { rewrite Nat.add_comm, Nat.mod_add by lia. apply Nat.mod_small. assumption. }
    rewrite E, Nat.eqb_refl. simpl.
    assert (Hk : forall s, s < k -> s <> r -> (q * k + s) mod k =? r = false).
    { intros s H1 H2. rewrite Nat.add_comm, Nat.mod_add by lia. rewrite Nat.mod_small by assumption.
      apply Nat.eqb_neq. assumption. }
    rewrite !filter_none; [reflexivity| |]; intros x H; apply in_seq in H.
    + replace x with (q * k + (x - q * k)) by lia. apply Hk; lia.
    + replace x with (q * k + (x - q * k)) by lia. apply Hk; lia.
  - pose proof (seq_app r (S (k - S r)) (q * k)) as E. replace (r + S (k - S r)) with k in E by lia.
    rewrite E. simpl. rewrite <- Nat.add_succ_r. reflexivity.
Qed.

Lemma remainders : forall k c r, r < k -> count (fun x => x mod k =? r) (c * k) = c.
Proof.
  intros k c r Hr. induction c as [|c IH]; [reflexivity|].
  replace (S c * k) with (c * k + k) by lia. rewrite count_add, IH, one_in_a_row by assumption. lia.
Qed.

Lemma limit_le : forall B k, k <> 0 -> limit B k <= B.
Proof.
  intros. unfold limit. rewrite Nat.mul_comm. apply Nat.mul_div_le. assumption.
Qed.

(** ** Every value has the same number of lanes *)

(** Each value 1..k is the image of exactly limit/k = B/k of the accepted lanes. *)
Theorem draw_uniform : forall B k v, 1 <= v <= k ->
  count (fun x => accepted B k x && (value k x =? v)) B = B / k.
Proof.
  intros B k v Hv.
  assert (Hl : limit B k <= B) by (apply limit_le; lia).
  rewrite (count_split _ (limit B k) B Hl), (filter_none _ (seq (limit B k) _)).
  - rewrite Nat.add_0_r. unfold count.
    rewrite (filter_ext_len _ (fun x => x mod k =? v - 1)).
    + unfold limit. apply remainders. lia.
    + intros x Hx. apply in_seq in Hx. unfold accepted, value.
      assert (E : x <? limit B k = true) by (apply Nat.ltb_lt; lia). rewrite E, andb_true_l.
      destruct (Nat.eqb_spec (x mod k) (v - 1)); [apply Nat.eqb_eq|apply Nat.eqb_neq]; lia.
  - intros x Hx. apply in_seq in Hx. unfold accepted.
    assert (E : x <? limit B k = false) by (apply Nat.ltb_ge; lia). rewrite E. reflexivity.
Qed.

(** An accepted lane gives a value in 1..k. *)
Theorem draw_range : forall k x, 1 <= k -> 1 <= value k x <= k.
Proof.
  intros k x Hk. unfold value. assert (x mod k < k) by (apply Nat.mod_upper_bound; lia). lia.
Qed.

(** More than four of five lanes are accepted if B is at least 4k, which the widths of section 2.1 ensure. *)
Theorem few_rejected : forall B k, 1 <= k -> 4 * k <= B -> 4 * (B - limit B k) < limit B k.
Proof.
  intros B k Hk HB. unfold limit.
  assert (B = k * (B / k) + B mod k) by (apply Nat.div_mod; lia).
  assert (B mod k < k) by (apply Nat.mod_upper_bound; lia).
  assert (4 <= B / k) by (apply Nat.div_le_lower_bound; lia).
  nia.
Qed.

(** ** Rejections say nothing about values *)

(** All lists of r lanes. *)
Fixpoint lanes (B r : nat) : list (list nat) :=
  match r with
  | 0 => [[]]
  | S r => map (fun p => fst p :: snd p) (list_prod (seq 0 B) (lanes B r))
  end.

Lemma filter_map_len : forall (X Y : Type) (f : X -> Y) (p : Y -> bool) l,
  length (filter p (map f l)) = length (filter (fun x => p (f x)) l).
Proof.
  induction l as [|x l IH]; simpl; auto. destruct (p (f x)); simpl; rewrite IH; auto.
Qed.

Lemma filter_prod_len : forall (X Y : Type) (p : X -> bool) (q : Y -> bool) xs ys,
  length (filter (fun xy => p (fst xy) && q (snd xy)) (list_prod xs ys))
  = length (filter p xs) * length (filter q ys).
Proof.
  induction xs as [|x xs IH]; intros ys; simpl; auto.
  rewrite filter_app, app_length, IH, filter_map_len.
  rewrite (filter_ext _ (fun y => p x && q y)) by reflexivity.
  destruct (p x).
  - rewrite (filter_ext _ q) by reflexivity. reflexivity.
  - rewrite (filter_ext _ (fun _ => false)) by reflexivity.
    replace (filter (fun _ : Y => false) ys) with (@nil Y) by (induction ys; simpl; auto). reflexivity.
Qed.

Lemma lanes_all : forall B (p : nat -> bool) r,
  length (filter (forallb p) (lanes B r)) = count p B ^ r.
Proof.
  intros B p r. induction r as [|r IH]; [reflexivity|].
  simpl lanes. rewrite filter_map_len. cbn [forallb].
  rewrite (filter_prod_len _ _ p (forallb p)). rewrite IH. reflexivity.
Qed.

(** The number of accepted lanes is the limit. *)
Lemma accepted_count : forall B k, k <> 0 -> count (accepted B k) B = limit B k.
Proof.
  intros B k Hk. assert (Hl : limit B k <= B) by (apply limit_le; assumption).
  rewrite (count_split _ (limit B k) B Hl), (filter_none _ (seq (limit B k) _)).
  - unfold count. rewrite (filter_ext_len _ (fun _ => true)).
    + rewrite Nat.add_0_r. replace (filter (fun _ => true) (seq 0 (limit B k))) with (seq 0 (limit B k)).
      * apply seq_length.
      * induction (seq 0 (limit B k)); simpl; congruence.
    + intros x Hx. apply in_seq in Hx. apply Nat.ltb_lt. lia.
  - intros x Hx. apply in_seq in Hx. apply Nat.ltb_ge. lia.
Qed.

Lemma rejected_count : forall B k, k <> 0 -> count (fun x => negb (accepted B k x)) B = B - limit B k.
Proof.
  intros B k Hk. rewrite <- (accepted_count B k Hk) at 1.
  assert (H : forall l : list nat, length (filter (accepted B k) l)
    + length (filter (fun x => negb (accepted B k x)) l) = length l).
  { induction l as [|x l IH]; simpl; auto. destruct (accepted B k x); simpl; lia. }
  specialize (H (seq 0 B)). rewrite seq_length in H. unfold count in *. lia.
Qed.

(** There are (B − limit)^r · (B/k) lists of r + 1 lanes of which the first r are rejected and the last is accepted and
    gives v, for every v. The number of rejected lanes is therefore independent of the value. *)
Theorem rejections_independent : forall B k v r, 1 <= v <= k ->
  length (filter (fun run => forallb (fun x => negb (accepted B k x)) (fst run)
                             && (accepted B k (snd run) && (value k (snd run) =? v)))
                 (list_prod (lanes B r) (seq 0 B)))
  = (B - limit B k) ^ r * (B / k).
Proof.
  intros B k v r Hv.
  rewrite (filter_prod_len _ _ (forallb (fun x => negb (accepted B k x)))
                           (fun x => accepted B k x && (value k x =? v))).
  rewrite lanes_all, rejected_count by lia. f_equal. apply draw_uniform. assumption.
Qed.
