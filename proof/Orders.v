(** Fisher-Yates: docs/SPEC.md section 2.2.

    For any number of cards and any number taken, each list of m distinct cards comes from exactly one list of draws.
    With Lanes.v, all orders are then equally likely. *)

Require Import Arith List Bool Lia Permutation Lanes.
Import ListNotations.

(** ** The recipe, as it is written: swaps in an array *)

Definition set (a : list nat) (i x : nat) : list nat := firstn i a ++ x :: skipn (S i) a.

Definition swap (a : list nat) (i j : nat) : list nat := set (set a i (nth j a 0)) j (nth i a 0).

(** The swaps from index i on, one for each draw: j = i + draw − 1. *)
Fixpoint swaps (a : list nat) (i : nat) (draws : list nat) : list nat :=
  match draws with
  | [] => a
  | d :: ds => swaps (swap a i (i + d - 1)) (S i) ds
  end.

(** m of the cards 0 … n−1: the first m after m swaps. *)
Definition shuffle (n : nat) (draws : list nat) : list nat := firstn (length draws) (swaps (seq 0 n) 0 draws).

(** ** The same on the cards that are left *)

(** The cards that are left of l when the one at j is taken: the first card moves to its place. *)
Definition left (l : list nat) (j : nat) : list nat :=
  match j with 0 => tl l | S j => set (tl l) j (hd 0 l) end.

Fixpoint picks (l : list nat) (draws : list nat) : list nat :=
  match draws with
  | [] => []
  | d :: ds => nth (d - 1) l 0 :: picks (left l (d - 1)) ds
  end.

(** Draws that fit n cards: of 1..n, 1..n−1, and so on. *)
Fixpoint fit (n : nat) (draws : list nat) : Prop :=
  match draws with
  | [] => True
  | d :: ds => 1 <= d <= n /\ fit (n - 1) ds
  end.

Lemma set_length : forall a i x, i < length a -> length (set a i x) = length a.
Proof.
  intros. unfold set. rewrite app_length, firstn_length, Nat.min_l by lia. cbn [length]. rewrite skipn_length. lia.
Qed.

Lemma set_app : forall p a i x, set (p ++ a) (length p + i) x = p ++ set a i x.
Proof.
  intros. unfold set. rewrite firstn_app_2, <- app_assoc. do 3 f_equal.
  rewrite <- plus_Sn_m, Nat.add_comm, <- Nat.add_succ_comm. rewrite skipn_app.
  rewrite skipn_all2 by lia. rewrite app_nil_l. f_equal. lia.
Qed.

Lemma set_at : forall p y s x, set (p ++ y :: s) (length p) x = p ++ x :: s.
Proof.
  intros. replace (length p) with (length p + 0) by lia. rewrite set_app. reflexivity.
Qed.

(** A swap at the front of what is left is what left and nth say. *)
Lemma swap_front : forall l j, j < length l -> swap l 0 j = nth j l 0 :: left l j.
Proof.
  intros l j H. destruct l as [|x l]; [simpl in H; lia|]. unfold swap.
  destruct j as [|j]; [reflexivity|]. simpl. unfold set at 2. simpl. reflexivity.
Qed.

Lemma swap_app : forall p l j, swap (p ++ l) (length p) (length p + j) = p ++ swap l 0 j.
Proof.
  intros. unfold swap. rewrite !app_nth2 by lia.
  replace (length p + j - length p) with j by lia. replace (length p - length p) with 0 by lia.
  rewrite <- (Nat.add_0_r (length p)) at 1. rewrite set_app, set_app. reflexivity.
Qed.

Lemma left_length : forall l j, j < length l -> length (left l j) = length l - 1.
Proof.
  intros l j H. destruct l as [|x l]; [simpl in H; lia|]. destruct j as [|j]; simpl; [lia|].
  rewrite set_length; simpl in *; lia.
Qed.

Lemma swaps_picks : forall ds p l, fit (length l) ds ->
  firstn (length p + length ds) (swaps (p ++ l) (length p) ds) = p ++ picks l ds.
Proof.
  induction ds as [|d ds IH]; intros p l H.
  - simpl. rewrite firstn_app, Nat.add_0_r, firstn_all, Nat.sub_diag. reflexivity.
  - simpl in H. destruct H as [Hd H]. simpl swaps. simpl picks.
    replace (length p + d - 1) with (length p + (d - 1)) by lia.
    rewrite swap_app, swap_front by lia.
    replace (p ++ nth (d - 1) l 0 :: left l (d - 1)) with ((p ++ [nth (d - 1) l 0]) ++ left l (d - 1))
      by (rewrite <- app_assoc; reflexivity).
    replace (S (length p)) with (length (p ++ [nth (d - 1) l 0])) by (rewrite app_length; simpl; lia).
    replace (length p + length (d :: ds)) with (length (p ++ [nth (d - 1) l 0]) + length ds)
      by (rewrite app_length; simpl; lia).
    rewrite IH by (rewrite left_length by lia; exact H).
    rewrite <- app_assoc. reflexivity.
Qed.

(** The array's recipe and the list's are one. *)
Theorem shuffle_picks : forall n ds, fit n ds -> shuffle n ds = picks (seq 0 n) ds.
Proof.
  intros n ds H. unfold shuffle. apply (swaps_picks ds [] (seq 0 n)). rewrite seq_length. assumption.
Qed.

(** ** From draws to orders: one to one and onto *)

Lemma left_permutation : forall l j, j < length l -> Permutation l (nth j l 0 :: left l j).
Proof.
  intros l j H. destruct l as [|x l]; [simpl in H; lia|]. destruct j as [|j]; [reflexivity|].
  simpl in H. simpl. unfold set.
  assert (E : l = firstn j l ++ nth j l 0 :: skipn (S j) l).
  { rewrite <- (firstn_skipn j l) at 1. f_equal.
    revert l H. induction j as [|j IH]; intros [|y l] H; simpl in *; try lia; auto. apply IH. lia. }
  rewrite E at 1.
  transitivity (x :: nth j l 0 :: firstn j l ++ skipn (S j) l).
  { constructor. symmetry. apply Permutation_middle. }
  transitivity (nth j l 0 :: x :: firstn j l ++ skipn (S j) l); [constructor|].
  constructor. apply Permutation_middle.
Qed.

Lemma left_nodup : forall l j, NoDup l -> j < length l -> NoDup (nth j l 0 :: left l j).
Proof.
  intros l j Hn H. apply (Permutation_NoDup (left_permutation l j H) Hn).
Qed.

(** What is picked are distinct cards of those that are there. *)
Lemma picks_sound : forall ds l, NoDup l -> fit (length l) ds ->
  NoDup (picks l ds) /\ incl (picks l ds) l /\ length (picks l ds) = length ds.
Proof.
  induction ds as [|d ds IH]; intros l Hn H; simpl.
  - repeat split; [constructor|intros x []].
  - destruct H as [Hd H]. assert (Hj : d - 1 < length l) by lia.
    pose proof (left_nodup l (d - 1) Hn Hj) as Hl. inversion Hl as [|y r Hy Hr]; subst.
    destruct (IH (left l (d - 1))) as (A & B & C); auto.
    { rewrite left_length by assumption. assumption. }
    repeat split.
    + constructor; auto.
    + intros x [<-|Hx]; [apply nth_In; assumption|]. apply B in Hx.
      apply (Permutation_in _ (Permutation_sym (left_permutation l (d - 1) Hj))). right. assumption.
    + rewrite C. reflexivity.
Qed.

(** Two lists of draws that pick the same are the same. *)
Lemma picks_injective : forall ds es l, NoDup l -> fit (length l) ds -> fit (length l) es ->
  picks l ds = picks l es -> ds = es.
Proof.
  induction ds as [|d ds IH]; intros [|e es] l Hn Hd He E; simpl in *; try discriminate; auto.
  destruct Hd as [Hd Hds], He as [He Hes]. injection E as E1 E2.
  assert (J : d - 1 = e - 1) by (apply (proj1 (NoDup_nth l 0) Hn); lia || assumption).
  assert (d = e) by lia. subst e. f_equal.
  assert (Hj : d - 1 < length l) by lia.
  apply (IH es (left l (d - 1))); auto.
  - pose proof (left_nodup l (d - 1) Hn Hj) as Hl. inversion Hl; assumption.
  - rewrite left_length by assumption. assumption.
  - rewrite left_length by assumption. assumption.
Qed.

(** Every list of distinct cards is picked by some draws. *)
Lemma picks_onto : forall t l, NoDup l -> NoDup t -> incl t l ->
  exists ds, fit (length l) ds /\ length ds = length t /\ picks l ds = t.
Proof.
  induction t as [|x t IH]; intros l Hl Ht Hi.
  - exists []. repeat split.
  - inversion Ht as [|y r Hx Hr]; subst.
    destruct (In_nth l x 0) as (j & Hj & E); [apply Hi; left; reflexivity|].
    pose proof (left_nodup l j Hl Hj) as Hn. rewrite E in Hn. inversion Hn as [|z s Hz Hs]; subst.
    destruct (IH (left l j)) as (ds & F & L & P); auto.
    + intros y Hy. assert (In y l) as Hyl by (apply Hi; right; assumption).
      apply (Permutation_in _ (left_permutation l j Hj)) in Hyl. destruct Hyl as [<-|Hyl]; auto.
      contradiction.
    + exists (S j :: ds). simpl. rewrite Nat.sub_0_r, P, L.
      rewrite left_length in F by assumption. repeat split; auto; lia.
Qed.

(** An order of m of n cards. *)
Definition order (n m : nat) (t : list nat) : Prop :=
  length t = m /\ NoDup t /\ forall x, In x t -> x < n.

(** Fisher-Yates is exact: each order of m of n cards comes from one list of draws, and from no other. *)
Theorem fisher_yates : forall n m t, order n m t ->
  exists! ds, fit n ds /\ length ds = m /\ shuffle n ds = t.
Proof.
  intros n m t (L & N & I).
  assert (Hn : NoDup (seq 0 n)) by apply seq_NoDup.
  destruct (picks_onto t (seq 0 n) Hn N) as (ds & F & D & P).
  { intros x Hx. apply in_seq. specialize (I x Hx). lia. }
  rewrite seq_length in F. exists ds. split.
  - repeat split; auto; [congruence|]. rewrite shuffle_picks; assumption.
  - intros es (Fe & De & Pe). rewrite shuffle_picks in Pe by assumption.
    apply (picks_injective ds es (seq 0 n) Hn); try rewrite seq_length; auto. congruence.
Qed.

(** And every list of draws that fits gives an order. *)
Theorem fisher_yates_sound : forall n ds, fit n ds -> order n (length ds) (shuffle n ds).
Proof.
  intros n ds F. rewrite shuffle_picks by assumption.
  destruct (picks_sound ds (seq 0 n)) as (A & B & C); [apply seq_NoDup|rewrite seq_length; assumption|].
  repeat split; auto. intros x Hx. apply B, in_seq in Hx. lia.
Qed.

(** ** The other direction *)

(** Durstenfeld's form from the end: for i = n−1 down to 0, j = draw(i+1) − 1, swap A[i] and A[j]. The draws d_0, d_1 …
    are of n, n−1 …, as above; the cards at n−1, n−2 … are fixed in this order. On the list of the cards that are left,
    from the last to the first, it takes the one at length − draw. *)
Fixpoint mirrored (n : nat) (draws : list nat) : list nat :=
  match draws with
  | [] => []
  | d :: ds => (n + 1 - d) :: mirrored (n - 1) ds
  end.

Definition backward (n : nat) (draws : list nat) : list nat :=
  rev (picks (rev (seq 0 n)) (mirrored n draws)).

Lemma mirrored_fit : forall ds n, fit n ds -> fit n (mirrored n ds).
Proof.
  induction ds as [|d ds IH]; simpl; intros n H; auto. destruct H. split; [lia|auto].
Qed.

Lemma mirrored_twice : forall ds n, fit n ds -> mirrored n (mirrored n ds) = ds.
Proof.
  induction ds as [|d ds IH]; simpl; intros n H; auto. destruct H. f_equal; [lia|auto].
Qed.

Lemma mirrored_length : forall ds n, length (mirrored n ds) = length ds.
Proof.
  induction ds as [|d ds IH]; simpl; intros; auto.
Qed.

(** The backward form reaches each order from exactly one list of draws, too: both forms have the same distribution. *)
Theorem backward_exact : forall n t, order n n t ->
  exists! ds, fit n ds /\ length ds = n /\ backward n ds = t.
Proof.
  intros n t (L & N & I).
  assert (Hn : NoDup (rev (seq 0 n))) by (apply NoDup_rev, seq_NoDup).
  assert (Hl : length (rev (seq 0 n)) = n) by (rewrite rev_length; apply seq_length).
  destruct (picks_onto (rev t) (rev (seq 0 n)) Hn) as (ds & F & D & P).
  { apply NoDup_rev. assumption. }
  { intros x Hx. apply in_rev in Hx. apply -> in_rev. apply in_seq. specialize (I x Hx). lia. }
  rewrite Hl in F. rewrite rev_length in D.
  exists (mirrored n ds). split.
  - repeat split.
    + apply mirrored_fit. assumption.
    + rewrite mirrored_length. congruence.
    + unfold backward. rewrite mirrored_twice, P by assumption. apply rev_involutive.
  - intros es (Fe & De & Pe). unfold backward in Pe.
    assert (P2 : picks (rev (seq 0 n)) (mirrored n es) = rev t) by (rewrite <- Pe; symmetry; apply rev_involutive).
    assert (E : ds = mirrored n es).
    { apply (picks_injective ds (mirrored n es) (rev (seq 0 n)) Hn); try rewrite Hl; auto.
      - apply mirrored_fit. assumption.
      - congruence. }
    rewrite E. apply mirrored_twice. assumption.
Qed.

(** *** The backward form as it is written: swaps in an array *)

(** The swaps from index i−1 down, one for each draw: j = draw − 1. *)
Fixpoint swaps_down (a : list nat) (i : nat) (draws : list nat) : list nat :=
  match draws with
  | [] => a
  | d :: ds => swaps_down (swap a (i - 1) (d - 1)) (i - 1) ds
  end.

Lemma swap_length : forall a i j, i < length a -> j < length a -> length (swap a i j) = length a.
Proof.
  intros. unfold swap. rewrite set_length; rewrite set_length; lia.
Qed.

Lemma rev_set : forall a i x, i < length a -> rev (set a i x) = set (rev a) (length a - 1 - i) x.
Proof.
  intros a i x H. unfold set. rewrite firstn_rev, skipn_rev, rev_app_distr. cbn [rev]. rewrite <- app_assoc.
  cbn [app]. f_equal; [|f_equal]; do 2 f_equal; lia.
Qed.

(** A swap in an array that is read from its end. *)
Lemma rev_swap : forall a i j, i < length a -> j < length a ->
  rev (swap a i j) = swap (rev a) (length a - 1 - i) (length a - 1 - j).
Proof.
  intros a i j Hi Hj. unfold swap.
  rewrite rev_set by (rewrite set_length; assumption). rewrite set_length, rev_set by assumption.
  rewrite !rev_nth by lia.
  replace (length a - S (length a - 1 - i)) with i by lia. replace (length a - S (length a - 1 - j)) with j by lia.
  reflexivity.
Qed.

Lemma rev_swaps_down : forall ds a i, i <= length a -> fit i ds ->
  rev (swaps_down a i ds) = swaps (rev a) (length a - i) (mirrored i ds).
Proof.
  induction ds as [|d ds IH]; intros a i Hi F; [reflexivity|]. cbn [fit] in F. destruct F as [Hd F].
  cbn [swaps_down mirrored swaps].
  rewrite IH by (rewrite ?swap_length; lia || assumption). rewrite rev_swap, swap_length by lia.
  f_equal; [f_equal|]; lia.
Qed.

(** The array's swaps from the end give the backward form above, in the last places of the array. *)
Theorem backward_swaps : forall n ds, fit n ds ->
  skipn (n - length ds) (swaps_down (seq 0 n) n ds) = backward n ds.
Proof.
  intros n ds F. unfold backward.
  assert (L : forall ds a i, i <= length a -> fit i ds -> length (swaps_down a i ds) = length a).
  { clear. induction ds as [|d ds IH]; intros a i Hi F; [reflexivity|]. destruct F as [Hd F]. cbn [swaps_down].
    rewrite IH; rewrite ?swap_length; auto; lia. }
  pose proof (swaps_picks (mirrored n ds) [] (rev (seq 0 n))) as P.
  rewrite rev_length, seq_length in P. specialize (P (mirrored_fit ds n F)).
  cbn [length app Nat.add] in P. rewrite mirrored_length in P. rewrite <- P.
  pose proof (rev_swaps_down ds (seq 0 n) n) as R. rewrite seq_length, Nat.sub_diag in R.
  rewrite <- R by (lia || assumption).
  rewrite firstn_rev, rev_involutive, L, seq_length by (rewrite ?seq_length; lia || assumption). reflexivity.
Qed.

(** All n cards: both forms, as they are written, reach each order from one list of draws. *)
Theorem both_forms : forall n t, order n n t ->
  (exists! ds, fit n ds /\ length ds = n /\ shuffle n ds = t) /\
  (exists! ds, fit n ds /\ length ds = n /\ swaps_down (seq 0 n) n ds = t).
Proof.
  intros n t H. split; [apply fisher_yates; assumption|].
  assert (K : forall ds, fit n ds -> length ds = n -> swaps_down (seq 0 n) n ds = backward n ds).
  { intros ds F L. rewrite <- backward_swaps, L, Nat.sub_diag by assumption. reflexivity. }
  destruct (backward_exact n t H) as (ds & (F & L & E) & U). exists ds. split.
  - repeat split; auto. rewrite K; assumption.
  - intros es (Fe & Le & Ee). apply U. repeat split; auto. rewrite <- K; assumption.
Qed.
